// Runs before anything is painted, so that a chosen theme does not flash as the other.
import { applyTheme, storedTheme } from './theme-choice.ts';

applyTheme(storedTheme());
