// Package batch collects the items of concurrent calls and computes them together, because devices compute many items in little more time
// than one.
//
//	q, err := batch.New(batch.Options[string, []float32]{
//		Run:   func(ctx context.Context, texts []string) ([][]float32, error) { return m.Embed(ctx, texts...) },
//		Most:  64,
//		Queue: 1024,
//	})
//	defer q.Close()
//	vectors, err := q.Do(ctx, "a text", "another text") // from any goroutine
//
// Batches are computed one at a time, in the order of arrival, and take as many items as fit; while one is computed, items of the next
// one arrive. The queue is bounded: Do refuses items beyond it at once, so that callers can say so to their clients. A call whose context
// ends leaves the queue, and a batch all of whose calls have left is canceled. If a batch fails, its calls are computed again, one after
// another, so that a call whose items make Run fail does not end the others.
package batch
