import { gateStories } from './stories.ts';

gateStories('http');
