// Changes of a text that are compiled with it and switched on one at a time. A change that gave another value
// somewhere has infected the run; one that has not is the same program for this launch.
#pragma once
#include <type_traits>

#include "tilewright_device.h"

extern u32 tw_mutant;
extern bool tw_infected;

// A condition, or true in its place.
static inline bool tw_true(u32 number, bool is) {
    if (tw_mutant != number) return is;
    tw_infected |= !is;
    return true;
}
// A number, or another.
template <class T, class U> static inline T tw_number(u32 number, T is, U other) {
    if (tw_mutant != number) return is;
    tw_infected |= is != (T)other;
    return (T)other;
}
// Whether a statement is left out.
static inline bool tw_without(u32 number) {
    if (tw_mutant != number) return false;
    return tw_infected = true;
}
// 1 before the right side of an xor, or 0.
static inline u32 tw_kept(u32 all, u32 number) {
    if (tw_mutant != number && tw_mutant != all) return 1;
    tw_infected = true;
    return 0;
}
// A product in 64 bits, or the same in 32: what stands before the number that is widened, it, and what follows.
struct tw_narrow {
    u32 number;
    u64 factor;
    explicit tw_narrow(u32 number, u64 factor = 1) : number(number), factor(factor) {}
};
template <class T> struct tw_product {
    u32 number;
    T value;
    operator T() const { return value; }
    tw_product times(T by) const {
        T whole = (T)((u64)value * (u64)by);
        if (tw_mutant != number) return {number, whole};
        T cut = std::is_signed<T>::value ? (T)(i32)(u32)(u64)whole : (T)(u32)(u64)whole;
        tw_infected |= cut != whole;
        return {number, cut};
    }
};
template <class U> using tw_integer = typename std::enable_if<std::is_integral<U>::value>::type;
template <class T, class = tw_integer<T>> static inline tw_product<T> operator*(tw_narrow a, T b) {
    return tw_product<T>{a.number, 1}.times((T)a.factor).times(b);
}
template <class U, class = tw_integer<U>> static inline tw_narrow operator*(U a, tw_narrow b) {
    return tw_narrow(b.number, b.factor * (u64)a);
}
template <class T> static inline tw_narrow operator*(tw_product<T> a, tw_narrow b) {
    return tw_narrow(b.number, b.factor * (u64)a.value);
}
template <class T, class U, class = tw_integer<U>> static inline tw_product<T> operator*(tw_product<T> a, U b) {
    return a.times((T)b);
}
// A pointer that is widened is its number.
static inline u64 operator*(tw_narrow, const u8 *b) { return (u64)b; }
