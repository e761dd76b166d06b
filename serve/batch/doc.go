// Package batch collects the items of concurrent calls and computes them together. Devices compute many items in little more time than one item.
//
//	q, err := batch.New(batch.Options[string, []float32]{
//		Run:   func(ctx context.Context, texts []string) ([][]float32, error) { return m.Embed(ctx, texts...) },
//		Most:  64,
//		Queue: 1024,
//	})
//	defer q.Close()
//	vectors, err := q.Do(ctx, "a text", "another text") // from any goroutine
//
// Batches are computed one at a time. Items that arrive while a batch is computed wait for a later batch. A batch takes as many items as fit, in the
// order of the calls' priorities and, among equal priorities, in the order of arrival. If the oldest item has missed 15 batches, the next batch
// ignores priorities, so that no item waits forever.
//
// If the queue is full, Do refuses further items at once. A call whose context ends leaves the queue. If Run fails for a batch, the Queue computes
// the calls of the batch again, one after another, so that one call does not make others fail.
package batch
