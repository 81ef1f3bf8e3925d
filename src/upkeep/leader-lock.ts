/** Held by the worker that rings bells. Any constant will do, as long as it is the same for everybody. */
export const LEADER_LOCK = 7_264_011_306;
