// The kernel of md5hash.go.

const int keyBytes = 7, keyValues = 10;

struct DigestState { u32 a, b, c, d; };

struct Md5hashArgs { Slice<const u32> digest; Slice<u32> found; long long count; Hidden h; };

__device__ DigestState digestStep(DigestState s, u32 f, u32 input, int shift) {
	u32 sum = s.a + f + input;
	return DigestState{s.d, s.b + (sum << shift | sum >> (32 - shift)), s.b, s.c};
}

__device__ DigestState digestF(DigestState s, u32 x, int shift, u32 k) { return digestStep(s, (s.b & s.c) | (~s.b & s.d), x + k, shift); }
__device__ DigestState digestG(DigestState s, u32 x, int shift, u32 k) { return digestStep(s, (s.b & s.d) | (s.c & ~s.d), x + k, shift); }
__device__ DigestState digestH(DigestState s, u32 x, int shift, u32 k) { return digestStep(s, s.b ^ s.c ^ s.d, x + k, shift); }
__device__ DigestState digestI(DigestState s, u32 x, int shift, u32 k) { return digestStep(s, s.c ^ (s.b | ~s.d), x + k, shift); }

__device__ DigestState digestOf(u32 first, u32 second, u32 bits) {
	DigestState start = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
	DigestState s = start;
	s = digestF(s, first, 7, 0xd76aa478);
	s = digestF(s, second, 12, 0xe8c7b756);
	s = digestF(s, 0, 17, 0x242070db);
	s = digestF(s, 0, 22, 0xc1bdceee);
	s = digestF(s, 0, 7, 0xf57c0faf);
	s = digestF(s, 0, 12, 0x4787c62a);
	s = digestF(s, 0, 17, 0xa8304613);
	s = digestF(s, 0, 22, 0xfd469501);
	s = digestF(s, 0, 7, 0x698098d8);
	s = digestF(s, 0, 12, 0x8b44f7af);
	s = digestF(s, 0, 17, 0xffff5bb1);
	s = digestF(s, 0, 22, 0x895cd7be);
	s = digestF(s, 0, 7, 0x6b901122);
	s = digestF(s, 0, 12, 0xfd987193);
	s = digestF(s, bits, 17, 0xa679438e);
	s = digestF(s, 0, 22, 0x49b40821);
	s = digestG(s, second, 5, 0xf61e2562);
	s = digestG(s, 0, 9, 0xc040b340);
	s = digestG(s, 0, 14, 0x265e5a51);
	s = digestG(s, first, 20, 0xe9b6c7aa);
	s = digestG(s, 0, 5, 0xd62f105d);
	s = digestG(s, 0, 9, 0x02441453);
	s = digestG(s, 0, 14, 0xd8a1e681);
	s = digestG(s, 0, 20, 0xe7d3fbc8);
	s = digestG(s, 0, 5, 0x21e1cde6);
	s = digestG(s, bits, 9, 0xc33707d6);
	s = digestG(s, 0, 14, 0xf4d50d87);
	s = digestG(s, 0, 20, 0x455a14ed);
	s = digestG(s, 0, 5, 0xa9e3e905);
	s = digestG(s, 0, 9, 0xfcefa3f8);
	s = digestG(s, 0, 14, 0x676f02d9);
	s = digestG(s, 0, 20, 0x8d2a4c8a);
	s = digestH(s, 0, 4, 0xfffa3942);
	s = digestH(s, 0, 11, 0x8771f681);
	s = digestH(s, 0, 16, 0x6d9d6122);
	s = digestH(s, bits, 23, 0xfde5380c);
	s = digestH(s, second, 4, 0xa4beea44);
	s = digestH(s, 0, 11, 0x4bdecfa9);
	s = digestH(s, 0, 16, 0xf6bb4b60);
	s = digestH(s, 0, 23, 0xbebfbc70);
	s = digestH(s, 0, 4, 0x289b7ec6);
	s = digestH(s, first, 11, 0xeaa127fa);
	s = digestH(s, 0, 16, 0xd4ef3085);
	s = digestH(s, 0, 23, 0x04881d05);
	s = digestH(s, 0, 4, 0xd9d4d039);
	s = digestH(s, 0, 11, 0xe6db99e5);
	s = digestH(s, 0, 16, 0x1fa27cf8);
	s = digestH(s, 0, 23, 0xc4ac5665);
	s = digestI(s, first, 6, 0xf4292244);
	s = digestI(s, 0, 10, 0x432aff97);
	s = digestI(s, bits, 15, 0xab9423a7);
	s = digestI(s, 0, 21, 0xfc93a039);
	s = digestI(s, 0, 6, 0x655b59c3);
	s = digestI(s, 0, 10, 0x8f0ccc92);
	s = digestI(s, 0, 15, 0xffeff47d);
	s = digestI(s, second, 21, 0x85845dd1);
	s = digestI(s, 0, 6, 0x6fa87e4f);
	s = digestI(s, 0, 10, 0xfe2ce6e0);
	s = digestI(s, 0, 15, 0xa3014314);
	s = digestI(s, 0, 21, 0x4e0811a1);
	s = digestI(s, 0, 6, 0xf7537e82);
	s = digestI(s, 0, 10, 0xbd3af235);
	s = digestI(s, 0, 15, 0x2ad7d2bb);
	s = digestI(s, 0, 21, 0xeb86d391);
	return DigestState{start.a + s.a, start.b + s.b, start.c + s.c, start.d + s.d};
}

KERNEL md5hash(const Md5hashArgs g) {
	int start = globalX() * keyValues, count = g.count, number = start;
	u8 key[keyBytes];
	for (int i = 0; i < keyBytes; i++) {
		key[i] = number % keyValues;
		number /= keyValues;
	}
	for (int i = 0; i < keyValues && start + i < count; i++) {
		u32 first = (u32)key[0] | (u32)key[1] << 8 | (u32)key[2] << 16 | (u32)key[3] << 24;
		u32 second = (u32)key[4] | (u32)key[5] << 8 | (u32)key[6] << 16 | 0x80u << 24;
		DigestState s = digestOf(first, second, 8 * keyBytes);
		if (s.a == g.digest.p[0] && s.b == g.digest.p[1] && s.c == g.digest.p[2] && s.d == g.digest.p[3]) {
			g.found.p[0] = start + i;
			g.found.p[1] = first;
			g.found.p[2] = second;
		}
		key[0]++;
	}
}
