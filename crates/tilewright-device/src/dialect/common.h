// Finds the job of a block of a launch, and the number of the block within the job: the last job whose first block is
// at most the block. First blocks ascend from 0, and there is at least one job.
#define FIND_JOB(job, own, jobs, count, block) do { \
  u32 low_ = 0u, high_ = (count); \
  while (high_ - low_ > 1u) { \
    const u32 middle_ = low_ + (high_ - low_) / 2u; \
    if ((jobs)[middle_].first <= (block)) low_ = middle_; else high_ = middle_; \
  } \
  (job) = low_; \
  (own) = (u32)((block) - (jobs)[low_].first); \
} while (0)

// n / d for n below 2^31, with the planner's number for d: a multiplier in the low word, a shift in the high word.
#define DIV(n, d) ((u32)((u64)(n) * (u32)(d) >> (u32)((d) >> 32)))

// Loads a vector of 16 bytes to four words of an array in registers.
#define GET16(m, i, p) do { const u128 q_ = LDG16(p); m[i] = q_.x; m[(i) + 1] = q_.y; m[(i) + 2] = q_.z; m[(i) + 3] = q_.w; } while (0)
#define GET16IF(c, m, i, p) do { const u128 q_ = LDG16IF(c, p); m[i] = q_.x; m[(i) + 1] = q_.y; m[(i) + 2] = q_.z; m[(i) + 3] = q_.w; } while (0)
#define SET16(p, m, i) do { u128 q_; q_.x = m[i]; q_.y = m[(i) + 1]; q_.z = m[(i) + 2]; q_.w = m[(i) + 3]; STG16(p, q_); } while (0)
#define SET16IF(c, p, m, i) do { u128 q_; q_.x = m[i]; q_.y = m[(i) + 1]; q_.z = m[(i) + 2]; q_.w = m[(i) + 3]; STG16IF(c, p, q_); } while (0)
#define PUT16(s, at, m, i) do { u128 q_; q_.x = m[i]; q_.y = m[(i) + 1]; q_.z = m[(i) + 2]; q_.w = m[(i) + 3]; STS16(s, at, q_); } while (0)
// Stores half a vector, at a multiple of 8 bytes; loads a vector from shared memory.
#define PUT8(s, at, m, i) STS8(s, (at) * 8u, (u64)m[(i) + 1] << 32 | m[i])
#define TAKE16(s, at, m) do { const u128 q_ = LDS16(s, at); m[0] = q_.x; m[1] = q_.y; m[2] = q_.z; m[3] = q_.w; } while (0)

// Exchanges two words, or halves or bytes of all four words, between the vectors at a and b: those whose position has
// this bit set at a and clear at b.
#define SWAP(x, y) do { const u32 t_ = (x); (x) = (y); (y) = t_; } while (0)
#define EXCHANGE8(m, a, b) do { SWAP(m[(a) + 2], m[b]); SWAP(m[(a) + 3], m[(b) + 1]); } while (0)
#define EXCHANGE4(m, a, b) do { SWAP(m[(a) + 1], m[b]); SWAP(m[(a) + 3], m[(b) + 2]); } while (0)
#define PERMUTE(x, y, low, high) do { const u32 t_ = PRMT(x, y, low); (y) = PRMT(x, y, high); (x) = t_; } while (0)
#define PERMUTE4(m, a, b, low, high) do { PERMUTE(m[a], m[b], low, high); PERMUTE(m[(a) + 1], m[(b) + 1], low, high); \
  PERMUTE(m[(a) + 2], m[(b) + 2], low, high); PERMUTE(m[(a) + 3], m[(b) + 3], low, high); } while (0)
#define EXCHANGE2(m, a, b) PERMUTE4(m, a, b, 0x5410u, 0x7632u)
#define EXCHANGE1(m, a, b) PERMUTE4(m, a, b, 0x6240u, 0x7351u)

// The same for positions of less than a byte: by bits, the mask low has those whose bit is clear.
#define TRADE(x, y, by, low) do { const u32 t_ = ((x) >> (by) ^ (y)) & (low); (y) ^= t_; (x) ^= t_ << (by); } while (0)
#define EXCHANGE_BITS(m, a, b, by, low) do { TRADE(m[a], m[b], by, low); TRADE(m[(a) + 1], m[(b) + 1], by, low); \
  TRADE(m[(a) + 2], m[(b) + 2], by, low); TRADE(m[(a) + 3], m[(b) + 3], by, low); } while (0)
// Swaps the bits of a word in a mask with those at a distance above them.
#define SWAP_BITS(x, by, mask) do { const u32 t_ = ((x) ^ (x) >> (by)) & (mask); (x) ^= t_ ^ t_ << (by); } while (0)

// The 16 bytes from byte by (0 to 15) on, of two vectors.
DEVICE u128 tw_joined(u128 a, u128 b, u32 by) {
  u32 w0 = a.x, w1 = a.y, w2 = a.z, w3 = a.w, w4 = b.x, w5 = b.y, w6 = b.z, w7 = b.w;
  if (by & 8u) { w0 = w2; w1 = w3; w2 = w4; w3 = w5; w4 = w6; w5 = w7; }
  if (by & 4u) { w0 = w1; w1 = w2; w2 = w3; w3 = w4; w4 = w5; }
  const u32 bits = (by & 3u) * 8u;
  u128 r;
  r.x = FUNNEL(w0, w1, bits);
  r.y = FUNNEL(w1, w2, bits);
  r.z = FUNNEL(w2, w3, bits);
  r.w = FUNNEL(w3, w4, bits);
  return r;
}
