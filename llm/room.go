package llm

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/weights"
)

// smaller are the formats that an error proposes, from large to small.
var smaller = [...]weights.Type{weights.Q8_0, weights.Q6_K, weights.Q5_K, weights.Q4_K, weights.Q3_K, weights.Q2_K}

// Memory is the memory that the weights and the cache of a model take on its device. Activations, adapters and the draft model take more.
type Memory struct {
	Weights int64 // bytes
	Cache   int64 // bytes of keys and values
	Tokens  int   // the number of tokens whose keys and values fit in the cache
}

// roomForWeights returns the size of the weights of a file on a device, or an error if there is no room for them. The error names a format in
// which they would fit.
func roomForWeights(dev *device.Device, f *Files) (need int64, err error) {
	elements := 0
	for _, t := range f.Weights.Tensors {
		if f.Config.Tied && t.Name() == "lm_head.weight" {
			continue // llama.Load ignores it
		}
		size := t.Size()
		if in, _ := t.Type().Block(); in == 1 { // a GPU has bfloat16 instead
			size = min(size, 2*t.Len())
		}
		need, elements = need+int64(size), elements+t.Len()
	}
	room, err := roomFor(dev, need)
	if err != nil || room >= need {
		return need, err
	}
	advice := ""
	for _, format := range smaller {
		in, bytes := format.Block()
		if size := int64(elements/in+1) * int64(bytes); size < need && size <= int64(float64(room)*cacheShare) {
			advice = fmt.Sprintf("; in %v, they would fit", format)
			break
		}
	}
	return need, fmt.Errorf("llm: %w: the weights need %s, and there is room for %s%s", device.ErrMemory, gibibytes(need), gibibytes(room), advice)
}

// roomForTokens returns an error if the device, which has the weights of a model, has no room for a number of tokens, whose keys and
// values have a size. The error names the number for which there is room.
func roomForTokens(dev *device.Device, size int64, tokens int) error {
	need := int64(tokens) * size
	room, err := roomFor(dev, need)
	if err != nil {
		return err
	}
	if all := dev.Info().Memory; all > 0 { // Room may not know the free memory
		stats, err := dev.MemoryStats()
		if err != nil {
			return err
		}
		room = min(room, max(0, all-stats.Used))
	}
	if room >= need {
		return nil
	}
	advice := ""
	if fit := int64(float64(room)*cacheShare) / size / llama.PageTokens * llama.PageTokens; fit > 0 {
		advice = fmt.Sprintf(", which is enough for a context of %d tokens", fit)
	}
	return fmt.Errorf("llm: %w: a cache of %d tokens needs %s, and beside the weights, there is room for %s%s",
		device.ErrMemory, tokens, gibibytes(need), gibibytes(room), advice)
}

// roomFor returns the room on a device. If it is less than need, the memory of closed buffers is freed first.
func roomFor(dev *device.Device, need int64) (int64, error) {
	room, err := dev.Room()
	if err != nil || room >= need {
		return room, err
	}
	if err := dev.Trim(); err != nil {
		return 0, err
	}
	return dev.Room()
}

// gibibytes returns a size as text.
func gibibytes(n int64) string { return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30)) }

// cacheShare is the share of a device's memory that the weights and caches of all models may have. The rest is for activations, graphs and
// others.
const cacheShare = 0.8

// budget is what the default of Options.Tokens depends on.
type budget struct {
	context int   // the tokens of a text
	token   int64 // the bytes of the keys and values of a token
	used    int64 // bytes of the device that the program uses beside the cache
	coming  int64 // bytes of used that are not yet allocated
}

// tokensOfText returns the largest number of tokens of a text for a model with a context.
func (o *Options) tokensOfText(context int) int {
	if o.Context == 0 {
		return min(8192, context)
	}
	return min(o.Context, context)
}

// tokens returns the number of tokens of the cache.
func (o *Options) tokens(dev *device.Device, b budget) (int, error) {
	if o.Tokens != 0 {
		return max(o.Tokens, b.context), nil
	}
	room, err := dev.Room()
	free := int64(float64(room-b.coming) * cacheShare)
	if all := dev.Info().Memory; all > 0 {
		free = min(free, int64(float64(all)*cacheShare)-b.used)
	}
	most := b.context + 1024*(max(o.Sequences, 1)-1)
	return max(min(most, int(free/b.token)-o.spare()), b.context), err
}

// spare returns the number of tokens for which the cache has memory in addition: llama.Config.CacheTokens adds pages of which texts use only a
// part.
func (o *Options) spare() int { return llama.PageTokens * (max(o.Sequences, 1) - 1) }

// foretell returns the memory that a model will take if the program already uses a number of bytes and the weights have a size.
func (o *Options) foretell(s *device.Stream, f *Files, used, weights int64) (Memory, error) {
	c, err := llama.ConfigFor(f.Weights, f.Config)
	if err != nil {
		return Memory{}, err
	}
	b := budget{context: o.tokensOfText(c.Context), token: int64(llama.TokenBytes(s, c, o.CacheDType)), used: used + weights, coming: weights}
	n, err := o.tokens(s.Device(), b)
	n = c.CacheTokens(llama.CacheOptions{Sequences: max(o.Sequences, 1), Tokens: n})
	return Memory{Weights: weights, Cache: int64(n) * b.token, Tokens: n}, err
}
