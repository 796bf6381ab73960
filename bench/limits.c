/* Loops in C for one purpose each: duels in the order they happened, a vector of duels at a time, and races of one size,
all players of a race at a time.

A group of duels ends before a duel of a player who is already in it. libmvec calculates the exponentials of a group
together. Groups of this size are faster than the others of four, eight and sixteen. `limits.py` builds this file with
-O3 -march=native -ffast-math. */

#include <math.h>
#include <stdint.h>

static const double SLOPE = 2.302585092994046 / 400.0, BETA2 = 17.36111111111111, TAU2 = 1.0 / 144.0;

static double score(const double *place) {
  return place[0] < place[1] ? 1.0 : place[0] == place[1] ? 0.5 : 0.0;
}

static long group_from(const int32_t *player, long k, long count, long width, int32_t *seen, int32_t group) {
  long size = 0;
  for (; size < width && k + size < count; size++) {
    const int32_t *pair = player + 2 * (k + size);
    if (seen[pair[0]] == group || seen[pair[1]] == group) break;
    seen[pair[0]] = seen[pair[1]] = group;
  }
  return size;
}

void elo(const int32_t *restrict player, const double *restrict place, long count, double *restrict states,
         int32_t *restrict seen) {
  enum { WIDTH = 4 };
  int32_t group = 1;
  for (long k = 0, size; k < count; k += size, group++) {
    double a[WIDTH] = {0}, b[WIDTH] = {0}, s[WIDTH] = {0};
    size = group_from(player, k, count, WIDTH, seen, group);
    for (long l = 0; l < size; l++) {
      a[l] = states[2 * player[2 * (k + l)]], b[l] = states[2 * player[2 * (k + l) + 1]];
      s[l] = score(place + 2 * (k + l));
    }
    for (int l = 0; l < WIDTH; l++) {
      double moved = 24.0 * (s[l] - 1.0 / (1.0 + exp(SLOPE * (b[l] - a[l]))));
      a[l] += moved, b[l] -= moved;
    }
    for (long l = 0; l < size; l++) {
      double *one = states + 2 * player[2 * (k + l)], *other = states + 2 * player[2 * (k + l) + 1];
      one[0] = a[l], one[1] += 1.0, other[0] = b[l], other[1] += 1.0;
    }
  }
}

void bradley_terry(const int32_t *restrict player, const double *restrict place, long count, double *restrict states,
                   int32_t *restrict seen) {
  enum { WIDTH = 8 };
  int32_t group = 1;
  for (long k = 0, size; k < count; k += size, group++) {
    double a[WIDTH], b[WIDTH], da[WIDTH], db[WIDTH], s[WIDTH];
    size = group_from(player, k, count, WIDTH, seen, group);
    for (long l = 0; l < size; l++) {
      double *one = states + 3 * player[2 * (k + l)], *other = states + 3 * player[2 * (k + l) + 1];
      a[l] = one[0], da[l] = one[1], b[l] = other[0], db[l] = other[1], s[l] = score(place + 2 * (k + l));
    }
    for (long l = size; l < WIDTH; l++) a[l] = b[l] = s[l] = 0.0, da[l] = db[l] = 1.0;
    for (int l = 0; l < WIDTH; l++) {
      double va = da[l] * da[l] + TAU2, vb = db[l] * db[l] + TAU2, by_c = 1.0 / sqrt(va + vb + 2.0 * BETA2);
      double p = 1.0 / (1.0 + exp((b[l] - a[l]) * by_c)), v = (s[l] - p) * by_c, w = p * (1.0 - p) * by_c * by_c * by_c;
      double sa = sqrt(va), sb = sqrt(vb), left_a = 1.0 - sa * va * w, left_b = 1.0 - sb * vb * w;
      a[l] += va * v, b[l] -= vb * v;
      da[l] = sa * sqrt(left_a > 1e-4 ? left_a : 1e-4), db[l] = sb * sqrt(left_b > 1e-4 ? left_b : 1e-4);
    }
    for (long l = 0; l < size; l++) {
      double *one = states + 3 * player[2 * (k + l)], *other = states + 3 * player[2 * (k + l) + 1];
      one[0] = a[l], one[1] = da[l], one[2] += 1.0, other[0] = b[l], other[1] = db[l], other[2] += 1.0;
    }
  }
}

static inline __attribute__((always_inline)) void race(const int32_t *restrict player, long size,
                                                       double *restrict states, double *restrict room) {
  double *restrict mean = room, *restrict variance = room + size, *restrict e = room + 2 * size;
  double *restrict by = room + 3 * size, *restrict once = room + 4 * size, *restrict squared = room + 5 * size;
  double best = -INFINITY, total = 0.0, left = 0.0, sum = 0.0, squares = 0.0;
  for (long k = 0; k < size; k++) mean[k] = states[3 * player[k]], variance[k] = states[3 * player[k] + 1];
  for (long k = 0; k < size; k++) {
    variance[k] = variance[k] * variance[k] + TAU2;
    total += variance[k] + BETA2, best = mean[k] > best ? mean[k] : best;
  }
  double by_c = 1.0 / sqrt(total);
  for (long k = 0; k < size; k++) e[k] = exp((mean[k] - best) * by_c);
  for (long k = size - 1; k >= 0; k--) by[k] = left += e[k];
  for (long k = 0; k < size; k++) by[k] = 1.0 / by[k];
  for (long k = 0; k < size; k++) once[k] = sum += by[k], squared[k] = squares += by[k] * by[k];
  for (long k = 0; k < size; k++) {
    double deviation = sqrt(variance[k]), p = e[k] * once[k], q = e[k] * e[k] * squared[k];
    double stays = 1.0 - deviation * variance[k] * (p - q) * by_c * by_c * by_c;
    mean[k] += variance[k] * (1.0 - p) * by_c, variance[k] = deviation * sqrt(stays > 1e-4 ? stays : 1e-4);
  }
  for (long k = 0; k < size; k++) {
    double *one = states + 3 * player[k];
    one[0] = mean[k], one[1] = variance[k], one[2] += 1.0;
  }
}

/* Races with the players in order of finish. `room` holds six numbers for each player of a race. */
void plackett_luce(const int32_t *restrict player, const double *restrict size, long count, double *restrict states,
                   double *restrict room) {
  long each = (long)*size;
  for (long k = 0; k < count; k++) {
    if (each == 8) race(player + 8 * k, 8, states, room);
    else race(player + each * k, each, states, room);
  }
}
