export function four() { return 1; }
