export function removeStale(root: string): Promise<string[]>;
