import { gateStories } from './stories.ts';

gateStories('ledger');
