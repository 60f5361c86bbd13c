// Changes of a text that are compiled into it and switched on one at a time.
#pragma once
#include <type_traits>

#include "tilewright_device.h"

extern u32 tw_mutant;

// A condition, or true instead.
static inline bool tw_true(u32 number, bool is) {
    return tw_mutant == number || is;
}
// A number, or another one.
template <class T, class U> static inline T tw_number(u32 number, T is, U other) {
    return tw_mutant == number ? (T)other : is;
}
// Whether a statement is removed.
static inline bool tw_without(u32 number) {
    return tw_mutant == number;
}
// 1 before the right side of an xor, or 0.
static inline u32 tw_kept(u32 all, u32 number) {
    return tw_mutant != number && tw_mutant != all;
}
// A product in 64 bits, or the same in 32: the expression before the number that is widened, the number, and the
// following factors.
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
        return {number, std::is_signed<T>::value ? (T)(i32)(u32)(u64)whole : (T)(u32)(u64)whole};
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
// The expression before a cast binds to it: a mask of 32 bits keeps none of the high ones.
struct tw_mask {
    u32 number;
};
static inline tw_mask operator~(tw_narrow a) { return {a.number}; }
static inline tw_narrow operator-(tw_narrow a) { return tw_narrow(a.number, 0 - a.factor); }
template <class T, class = tw_integer<T>> static inline T operator*(tw_mask a, T b) {
    return tw_mutant == a.number ? (T)(u32)~b : (T)~b;
}
// A pointer that is widened is its number.
static inline u64 operator*(tw_narrow, const u8 *b) { return (u64)b; }
