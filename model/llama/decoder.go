package llama

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// A Chooser enqueues kernels that choose a token for each row of logits. There may be surplus rows, whose tokens have no effect.
type Chooser func(s *tensor.Scope, c Choice) error

// A Choice is the input and output of a Chooser. All slices have an element for each row.
type Choice struct {
	Row       int                 // the row of the Decoder that belongs to the first row of Logits
	Logits    *tensor.Tensor      // [rows][Vocabulary]; the Chooser may overwrite them
	Positions device.Slice[int32] // the position of the last token before the chosen one; 0 in surplus rows
	Tokens    device.Slice[int32] // the Chooser stores the chosen tokens here
}

// A Decoder continues sequences step by step. It has rows, each of which holds the token that was chosen last for a sequence. A step appends
// these tokens to the sequences, and chooses the next tokens. This happens on the device, so the program can enqueue the next step before it
// knows the tokens. A Decoder belongs to one goroutine at a time.
type Decoder struct {
	// Started, unless it is nil, is called before the first kernel of each computation, when the inputs have been uploaded.
	Started func() error

	model  *Model
	cache  *Cache
	choose Chooser
	rows   int
	tokens device.Slice[int32]
	inputs device.Slice[int32] // for n rows: sequence and position of each, then the positions, then the plan of the adapters
	close  []func() error
	graphs map[size]*device.Graph
	bulks  bulks
}

// NewDecoder returns a Decoder for a cache. The number of rows is rounded up to a power of two.
func (m *Model) NewDecoder(c *Cache, rows int, choose Chooser) (*Decoder, error) {
	rows = bucket(rows)
	d := &Decoder{model: m, cache: c, choose: choose, rows: rows, graphs: map[size]*device.Graph{}, bulks: bulks{graphs: map[bulk]*bulkGraph{}}}
	for _, p := range []struct {
		to *device.Slice[int32]
		n  int
	}{{&d.tokens, rows}, {&d.inputs, 3*rows + m.planLen(rows)}, {&d.bulks.inputs, m.inputsLen(rows)}} {
		b, err := device.Make[int32](c.stream, p.n)
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.close = append(d.close, b.Close)
		*p.to = b.All()
	}
	return d, nil
}

// size is the size of a graph's steps: rows, the number of tokens that the longest sequence may have, whether a sequence may have several of
// the rows, and whether rows use adapters.
type size struct {
	rows, longest     int
	repeated, adapted bool
}

// leastContext is the smallest number of tokens for which there is a graph.
const leastContext = 512

// bucket returns the smallest power of two that is at least n.
func bucket(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }

// Close frees the memory.
func (d *Decoder) Close() error {
	var err error
	for _, g := range d.graphs {
		err = errors.Join(err, g.Close())
	}
	for _, f := range append(d.close, d.bulks.close) {
		err = errors.Join(err, f())
	}
	d.graphs, d.close = nil, nil
	return err
}

// Tokens returns the tokens that were chosen last. Element i is the token of row i.
func (d *Decoder) Tokens() device.Slice[int32] { return d.tokens }

// Begin appends spans to their sequences, and chooses the next token after each span. The token for span i becomes the token of row
// first+i; other rows keep their tokens. Each span must have at least one token, and no sequence may have two spans. Begin waits until the
// work is done. The errors are those of Forward.
func (d *Decoder) Begin(ctx context.Context, first int, spans ...Span) error {
	if len(spans) == 0 || first < 0 || first > d.rows-len(spans) {
		return fmt.Errorf("%w: %d spans from row %d of %d on", ErrSequence, len(spans), first, d.rows)
	}
	for i, span := range spans {
		if len(span.Tokens) == 0 {
			return fmt.Errorf("%w: span %d is empty", ErrSequence, i)
		}
	}
	e, err := d.cache.extension(nil, spans, nil)
	if err != nil {
		return err
	}
	e.started = d.Started
	return errors.Join(d.compute(ctx, first, e), d.cache.stream.Synchronize(ctx))
}

// A Batch is the work of one call of Advance. A sequence must not occur twice.
type Batch struct {
	Rows  []int  // Rows[i] is the sequence to which Step would append the token in row i of the Decoder; the token chosen next replaces it there
	Ends  []Span // the spans to append, as Begin does; the token chosen after Ends[i] becomes the token of row len(Rows)+i
	Parts []Span // the spans to append without choosing a next token
}

// Advance appends tokens to the sequences of b.Rows, as Step does, and spans to other sequences, as Begin does. It only enqueues the work. There
// must be at least one row, or one span of Ends. Afterwards, the rows that b does not use have arbitrary tokens. The errors are those of Begin.
func (d *Decoder) Advance(ctx context.Context, b Batch) error {
	if n := len(b.Rows) + len(b.Ends); n == 0 || n > d.rows {
		return fmt.Errorf("%w: %d rows of %d", ErrSequence, n, d.rows)
	}
	for i, span := range slices.Concat(b.Ends, b.Parts) {
		if len(span.Tokens) == 0 {
			return fmt.Errorf("%w: span %d is empty", ErrSequence, i)
		}
	}
	e, err := d.cache.extension(b.Rows, b.Ends, b.Parts)
	if err != nil {
		return err
	}
	e.tokens, e.started = d.tokens.Slice(0, len(b.Rows)), d.Started
	if of, ok := d.bulkOf(&e.batch); ok {
		p := d.model.pack(d.cache, &e.batch, of)
		of.adapted = p.adapted()
		g, err := d.bulkGraph(of, &p)
		if err != nil {
			return err
		}
		if g != nil {
			return d.launch(e, &p, g)
		}
	}
	return d.compute(ctx, 0, e)
}

// compute enqueues the kernels of an extension one by one. The chosen tokens are those of the rows from a number on.
func (d *Decoder) compute(ctx context.Context, first int, e *extension) error {
	return tensor.Enqueue(ctx, d.cache.stream, func(s *tensor.Scope) error {
		x, in, err := d.model.extend(s, d.cache, e)
		if err != nil {
			return err
		}
		return d.choose(s, Choice{first, d.model.Logits(nn.Rows(x, in.last)), in.at, d.tokens.Slice(first, first+in.last.Len())})
	})
}

// ofRows returns spans for the tokens of rows, of which only the number counts.
func ofRows(sequences []int) []Span {
	spans := make([]Span, len(sequences))
	for i, sequence := range sequences {
		spans[i] = Span{sequence, []int32{0}}
	}
	return spans
}

// Move copies the token of row src to row dst. It only enqueues the work.
func (d *Decoder) Move(dst, src int) error {
	if dst == src || min(dst, src) < 0 || max(dst, src) >= d.rows {
		return fmt.Errorf("%w: row %d to row %d of %d", ErrSequence, src, dst, d.rows)
	}
	return device.Copy(d.cache.stream, d.tokens.Slice(dst, dst+1), d.tokens.Slice(src, src+1))
}

// Put stores tokens[i] in row first+i, for each i. It only enqueues the work.
func (d *Decoder) Put(first int, tokens []int32) error {
	if first < 0 || first > d.rows-len(tokens) {
		return fmt.Errorf("%w: %d tokens from row %d of %d on", ErrSequence, len(tokens), first, d.rows)
	}
	for _, id := range tokens {
		if id < 0 || int(id) >= d.model.Vocabulary {
			return fmt.Errorf("%w: token %d of %d", ErrSequence, id, d.model.Vocabulary)
		}
	}
	return device.UploadTo(d.cache.stream, d.tokens.Slice(first, first+len(tokens)), tokens)
}

// Step appends the token of row i to sequences[i], for each i, and chooses the next tokens of these rows. Afterwards, the other rows have arbitrary
// tokens. Step only enqueues the work. The errors match ErrFull, ErrContext and ErrSequence. After an error, the cache is unchanged.
//
// A sequence may have several rows. Step appends their tokens in the order of the rows, and chooses a token after each of them. In this way, a
// program can check guesses of the next tokens of a sequence in one step. Cache.Truncate removes wrong guesses.
func (d *Decoder) Step(sequences ...int) error {
	n := bucket(len(sequences))
	if d.cache.fixed > 0 {
		n = d.rows
	}
	if len(sequences) > d.rows || len(sequences) == 0 {
		return fmt.Errorf("%w: %d rows of %d", ErrSequence, len(sequences), d.rows)
	}
	adapted, err := d.place(sequences, n)
	if err != nil {
		return err
	}
	g, err := d.graph(size{n, max(leastContext, bucket(d.cache.longest())), repeats(sequences), adapted})
	if err == nil && d.Started != nil {
		err = d.Started()
	}
	if err != nil {
		return err
	}
	return g.Launch(d.cache.stream)
}

// repeats reports whether a sequence occurs twice.
func repeats(sequences []int) bool {
	seen := map[int]bool{}
	for _, i := range sequences {
		seen[i] = true
	}
	return len(seen) < len(sequences)
}

// place makes room for a token of each sequence, uploads where they are, and reports whether some use adapters.
func (d *Decoder) place(sequences []int, n int) (adapted bool, err error) {
	b, err := d.cache.append(ofRows(sequences))
	if err != nil {
		return false, err
	}
	inputs := make([]int32, 3*n)
	copy(inputs, b.places)
	for i := len(sequences); i < n; i++ {
		inputs[2*i] = -1
	}
	copy(inputs[2*n:], b.positions)
	if which := d.model.adaptersOf(d.cache, inputs[:2*n]); which != nil {
		inputs, adapted = append(inputs, d.model.adapters.Plan(which)...), true
	}
	return adapted, device.UploadTo(d.cache.stream, d.inputs.Slice(0, len(inputs)), inputs)
}

// graph returns the graph of steps of a size.
func (d *Decoder) graph(n size) (*device.Graph, error) {
	if g := d.graphs[n]; g != nil {
		return g, nil
	}
	g, err := d.cache.stream.Device().Capture(func(stream *device.Stream) error {
		return tensor.RunOn(context.Background(), stream, func(s *tensor.Scope) error { return d.step(s, n) })
	})
	if err == nil {
		d.graphs[n] = g
	}
	return g, err
}

// step enqueues a step.
func (d *Decoder) step(s *tensor.Scope, of size) error {
	n := of.rows
	ids, err := tensor.Wrap(d.tokens.Slice(0, n), n)
	if err != nil {
		return err
	}
	places, err := tensor.Wrap(d.inputs.Slice(0, 2*n), 2*n)
	if err != nil {
		return err
	}
	at := d.inputs.Slice(2*n, 3*n)
	positions, err := tensor.Wrap(at, n)
	if err != nil {
		return err
	}
	in := inputs{places: s.Use(places), positions: s.Use(positions)}
	if of.adapted {
		in.adapters = lora.Planned(d.inputs.Slice(3*n, 3*n+d.model.planLen(n)))
	}
	a, err := d.cache.attender(d.model, in)
	if err != nil {
		return err
	}
	a.longest, a.single = of.longest, !of.repeated
	x := d.model.layers.forward(s.Use(ids), a)
	if err := x.Err(); err != nil {
		return err
	}
	return d.choose(s, Choice{0, d.model.Logits(x), at, d.tokens.Slice(0, n)})
}
