// n / d for n below 2^31, by the number that the planner made of d: a multiplier, and above it a shift.
#define DIV(n, d) ((u32)((u64)(n) * (u32)(d) >> (u32)((d) >> 32)))
