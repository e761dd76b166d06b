// Package sampling chooses a token for each row of logits: by greatest logit, or at random after penalties, temperature, top-k,
// top-p and min-p. There is no sort: thresholds are found by counting.
//
// What a row needs is in device memory, so that a captured graph can be replayed with other parameters:
//
//	shape := sampling.Shape{Rows: 8, Vocabulary: 128256}
//	work, err := device.Make[int32](s, sampling.Workspace(s, shape))
//	err = sampling.Sample(s, shape, sampling.Operands{
//		Logits: logits, Params: params, Positions: positions, Work: work.All(), Tokens: tokens,
//	})
//
// A row is sampled in these steps:
//
//  1. Biases are added to the logits, in place.
//  2. Penalties change the logits of tokens that have occurred, and the mask sets others to negative infinity, in place.
//  3. The weight of a token is exp((logit - greatest) / temperature), rounded to a multiple of 2^-26. Tokens with negative
//     infinity or NaN are excluded.
//  4. Top-k keeps the k greatest logits, top-p the fewest greatest weights whose sum is at least p of the sum of those kept, and
//     min-p the weights of at least p. Tokens that tie with the last one that is kept are kept, too.
//  5. A token is drawn with a probability in proportion to its weight, by the numbers of Philox4x32-10 for the key Seed and the
//     counter Position. Tokens are in the order of their indices.
//
// Weights are integers and their sums exact, so all devices and forms choose the same token for equal logits.
//
// On a GPU, the blocks of a first kernel do steps 1 and 2 for spans of rows, and find the greatest logit of each span, unless top-k
// applies. In a second kernel, a block has a row. It reads the row twice if top-k keeps at most 2,048 tokens: for the greatest logit and
// a histogram of the leading bits of the logits, and for a list of the tokens that top-k may keep, among which a warp finds the
// thresholds and the token. Rows without top-k need one read, and four more for top-p. On the CPU, 16 lanes find thresholds by bisection.
package sampling

//go:generate go tool kernelgen .
