package llama

import (
	"context"
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// bulk is the size of a graph of Advance.
type bulk struct {
	tokens  int // of all sequences, with surplus ones
	rows    int // the number of first tokens whose attention is computed as that of single tokens, although some may belong to spans
	spans   int // with surplus ones
	chosen  int // tokens, with surplus ones
	longest int // see size
	adapted bool
}

// The sizes of bulks. Products are computed in tiles of 128 rows, so that a smaller step would hardly take fewer.
const (
	bulkTokens = 128
	bulkChosen = 32
	bulkSpans  = 16
	mostBulk   = 2048 // tokens
)

// up returns the smallest multiple of m that is at least n.
func up(n, m int) int { return (n + m - 1) / m * m }

// bulks are the graphs of Advance. Each has memory of its own for the activations of all its tokens, so there are few: those that were used
// last, with a share of the device's memory. A size gets a graph when it occurs for the third time, because making one takes as long as some
// launches of all kernels one by one.
type bulks struct {
	inputs device.Slice[int32]
	graphs map[bulk]*bulkGraph
	clock  int // counts calls
}

// bulkGraph is what a Decoder knows of a size.
type bulkGraph struct {
	graph *device.Graph // nil if the size has not occurred often enough
	seen  int           // how often it has occurred
	last  int           // the clock when it last occurred
}

const (
	mostBulks   = 8
	bulkShare   = 32 // of the device's memory
	oftenEnough = 3
)

// bulkBytes returns about how much memory the activations of a bulk need.
func (c Config) bulkBytes(of bulk) int64 {
	token := 2*c.Hidden + (2*c.Heads+2*c.KeyHeads)*c.HeadDim + 2*c.FFN
	return 4 * (int64(of.tokens)*int64(token) + int64(of.chosen)*int64(c.Vocabulary))
}

// inputsLen returns the number of elements of the inputs of the largest bulk of a Decoder.
func (m *Model) inputsLen(rows int) int {
	return up(mostBulk, packedAlign) + up(2*mostBulk, packedAlign) + up(mostBulk, packedAlign) + 2*up(rows, packedAlign) + up(4*mostBulk, packedAlign) + up(m.planLen(mostBulk), packedAlign)
}

// bulkOf returns the size of a batch, and false if it needs another way: it has too many tokens, or its spans are so short that the
// attention of their tokens is computed one by one.
func (d *Decoder) bulkOf(b *batch) (bulk, bool) {
	spans := len(b.spans)/4 - b.rows
	of := bulk{
		tokens: up(len(b.ids), bulkTokens), spans: up(spans, bulkSpans), chosen: min(up(b.chosen, bulkChosen), d.rows),
		longest: max(leastContext, bucket(d.cache.longest())),
	}
	if b.rows > 0 {
		of.rows = min(bucket(b.rows), of.tokens)
	}
	return of, of.tokens <= mostBulk && of.spans <= mostBulk && shortest*spans < len(b.ids)-b.rows && d.cache.fixed == 0
}

// bulkGraph returns the graph of a size, or nil if there is none.
func (d *Decoder) bulkGraph(of bulk, p *packed) (*device.Graph, error) {
	g := d.bulks.graphs[of]
	if g == nil {
		g = &bulkGraph{}
		d.bulks.graphs[of] = g
	}
	d.bulks.clock++
	g.seen, g.last = g.seen+1, d.bulks.clock
	if g.graph != nil || g.seen < oftenEnough {
		return g.graph, nil
	}
	if ok, err := d.makeRoom(of); !ok || err != nil {
		return nil, err
	}
	made, err := d.cache.stream.Device().Capture(func(stream *device.Stream) error {
		return tensor.RunOn(context.Background(), stream, func(s *tensor.Scope) error { return d.advance(s, of, p) })
	})
	if errors.Is(err, device.ErrMemory) {
		g.seen = 0 // the kernels one by one need no memory that lasts
		return nil, nil
	}
	g.graph = made
	return made, err
}

// makeRoom closes graphs, those that were not used for the longest time first, until there may be one of a size. It reports whether there may.
func (d *Decoder) makeRoom(of bulk) (bool, error) {
	room := d.cache.stream.Device().Info().Memory/bulkShare - d.model.bulkBytes(of)
	if room < 0 && d.cache.stream.Device().Info().Memory > 0 {
		return false, nil
	}
	for {
		n, used, oldest := 0, int64(0), bulk{}
		for of, g := range d.bulks.graphs {
			if g.graph == nil {
				continue
			}
			if used += d.model.bulkBytes(of); n == 0 || g.last < d.bulks.graphs[oldest].last {
				oldest = of
			}
			n++
		}
		if n < mostBulks && (n == 0 || used <= room) {
			return true, nil
		}
		if err := d.bulks.graphs[oldest].graph.Close(); err != nil {
			return false, err
		}
		delete(d.bulks.graphs, oldest)
	}
}

// close closes the graphs.
func (b *bulks) close() (err error) {
	for _, g := range b.graphs {
		if g.graph != nil {
			err = errors.Join(err, g.graph.Close())
		}
	}
	clear(b.graphs)
	return err
}

// advance records the kernels of a bulk whose inputs are packed like p.
func (d *Decoder) advance(s *tensor.Scope, of bulk, p *packed) error {
	in, err := p.inputsOf(s, d.bulks.inputs)
	if err != nil {
		return err
	}
	a, err := d.cache.attender(d.model, in)
	if err != nil {
		return err
	}
	a.longest, a.rows, a.prompts = of.longest, of.rows, true
	x := d.model.layers.forward(in.ids, a)
	if err := x.Err(); err != nil {
		return err
	}
	return d.choose(s, Choice{0, d.model.Logits(nn.Rows(x, in.last)), in.at, d.tokens.Slice(0, of.chosen)})
}

// launch enqueues an extension with a graph.
func (d *Decoder) launch(e *extension, p *packed, g *device.Graph) error {
	if err := device.UploadTo(d.cache.stream, d.bulks.inputs.Slice(0, len(p.all)), p.all); err != nil {
		return err
	}
	if err := e.start(d.cache.stream, d.bulks.inputs); err != nil {
		return err
	}
	return g.Launch(d.cache.stream)
}
