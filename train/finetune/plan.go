package finetune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/phantom"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train/text"
)

// ErrMemory is the error of a training that does not fit in the memory of a device. The error's text lists changes of the Config with which the
// training fits.
var ErrMemory = errors.New("finetune: not enough memory on the device")

// A Plan is the memory in bytes that a training takes on each device. New computes the Plan before it loads the model. The training may take
// less memory than planned.
type Plan struct {
	Weights     int64 // the values that layers compute with
	Masters     int64 // the parameters that are trained, in float32
	Gradients   int64
	Optimizer   int64
	Activations int64 // the results of the forward pass that Backward needs
	Workspace   int64 // the remaining part of Total
	Total       int64 // the peak

	Room      int64           // the bytes that were free on the device; math.MaxInt64 if this is not known
	Recompute llama.Recompute // what Backward computes again, so that Total fits in Room
	Layers    int             // the number of layers of the model
}

// margin is the factor by which a Plan must fit in the memory of a device.
const margin = 1.05

// fits reports whether the memory is there.
func (p Plan) fits() bool { return float64(p.Total)*margin <= float64(p.Room) }

// String returns a line for each part of the memory, and a line for each kind of results that Backward computes again.
func (p Plan) String() string {
	var b strings.Builder
	for _, part := range []struct {
		name  string
		bytes int64
	}{
		{"weights", p.Weights}, {"float32 parameters", p.Masters}, {"gradients", p.Gradients}, {"optimizer", p.Optimizer},
		{"activations", p.Activations}, {"workspace", p.Workspace}, {"total", p.Total}, {"free", p.Room},
	} {
		if part.bytes != math.MaxInt64 {
			fmt.Fprintf(&b, "%-18s %12s\n", part.name, size(part.bytes))
		}
	}
	if p.Recompute.Cheap {
		b.WriteString("computed again: norms and SwiGLU\n")
	}
	if n := p.Recompute.Layers; n > 0 {
		fmt.Fprintf(&b, "computed again: %d of %d layers\n", n, p.Layers)
	}
	if n := p.Recompute.MLPs; n > 0 {
		fmt.Fprintf(&b, "computed again: MLPs of %d of %d layers\n", n, p.Layers)
	}
	return b.String()
}

// size formats a number of bytes.
func size(n int64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// planner finds out Plans.
type planner struct {
	files  *llm.Files
	device device.Info
	world  int // replicas
	room   int64
}

// plan sets the Plan of the training, and what its model computes again. The error matches ErrMemory if there is no Plan that fits.
func (t *Trainer) plan(p planner) (err error) {
	p.room = math.MaxInt64
	for _, r := range t.replicas {
		room, err := r.device.Room()
		if err != nil {
			return err
		}
		if all := r.device.Info().Memory; all > 0 {
			room = min(room, all)
		}
		p.room = min(p.room, room)
	}
	packs := t.largest()
	if t.planned, err = p.choose(*t.config, packs); err != nil || t.planned.fits() {
		return err
	}
	return fmt.Errorf("%w: the training needs %s with a reserve of 5 %%, %s are free. %s", ErrMemory, size(int64(margin*float64(t.planned.Total))), size(t.planned.Room), p.advice(*t.config, packs))
}

// largest returns the pack of the training with the most tokens, and that with the most learned ones.
func (t *Trainer) largest() []text.Pack {
	var longest, hardest text.Pack
	left := math.MaxInt // steps
	if t.config.Steps > 0 {
		left = t.config.Steps
	}
	for epoch := range t.config.Epochs {
		for i, p := range t.data.Packs(uint64(epoch), t.config.Seed) {
			if i%t.config.Batch == 0 {
				left--
			}
			if left < 0 {
				break
			}
			if n, most := len(p.Tokens), len(longest.Tokens); n > most || n == most && p.Learned > longest.Learned {
				longest = p
			}
			if p.Learned > hardest.Learned || p.Learned == hardest.Learned && len(p.Tokens) > len(hardest.Tokens) {
				hardest = p
			}
		}
	}
	if longest.Learned == hardest.Learned {
		return []text.Pack{longest}
	}
	return []text.Pack{longest, hardest}
}

// The values of Config.Recompute.
const (
	recomputeNone   = "none"
	recomputeCheap  = "cheap"
	recomputeMLP    = "mlp"
	recomputeLayers = "layers"
)

// choose returns the Plan for packs that computes least again and fits, or the one that computes most again if none fits.
func (p planner) choose(c Config, packs []text.Pack) (Plan, error) {
	plan, err := p.measure(c, packs, llama.Recompute{})
	n := plan.Layers
	var steps []llama.Recompute // from what takes most memory to what takes least
	for i := range n + 1 {
		steps = append(steps, llama.Recompute{Cheap: true, MLPs: i})
	}
	for i := 1; i <= n; i++ {
		steps = append(steps, llama.Recompute{Cheap: true, Layers: i, MLPs: n - i})
	}
	switch {
	case err != nil || c.Recompute == recomputeNone || c.Recompute == "" && plan.fits():
		return plan, err
	case c.Recompute == recomputeCheap:
		return p.measure(c, packs, steps[0])
	case c.Recompute == recomputeMLP:
		return p.measure(c, packs, steps[n])
	case c.Recompute == recomputeLayers:
		return p.measure(c, packs, steps[2*n])
	}
	least, err := p.measure(c, packs, steps[2*n])
	if err != nil || !least.fits() {
		return least, err
	}
	plans := map[int]Plan{2 * n: least}
	i := sort.Search(2*n, func(i int) bool {
		var failed error
		plans[i], failed = p.measure(c, packs, steps[i])
		err = errors.Join(err, failed)
		return plans[i].fits()
	})
	return plans[i], err
}

// advice returns the changes of a Config with which the training fits.
func (p planner) advice(c Config, packs []text.Pack) string {
	var list []string
	try := func(name string, change func(c *Config)) bool {
		x := c
		change(&x)
		if x.check(1) != nil {
			return false
		}
		if x.Length != c.Length {
			packs = []text.Pack{packOf(x)}
		}
		x.Recompute = cmp.Or(x.Recompute, recomputeLayers)
		plan, err := p.choose(x, packs)
		if err != nil || !plan.fits() {
			return false
		}
		list = append(list, fmt.Sprintf("%s (%s)", name, size(plan.Total)))
		return true
	}
	if c.Recompute != "" {
		try("the default of recompute", func(c *Config) { c.Recompute = "" })
	}
	if c.Optimizer != eightBit {
		try("optimizer "+eightBit, func(c *Config) { c.Optimizer = eightBit })
	}
	if c.Zero == 0 && p.world > 1 {
		try("zero 1", func(c *Config) { c.Zero = 1 })
	}
	if c.Method == full {
		try("method lora", func(c *Config) { c.Method = "lora" })
	}
	const least = 64
	for n := c.Length / 2; n >= least; n /= 2 {
		if try(fmt.Sprintf("length %d", n), func(c *Config) { c.Length = n }) {
			break
		}
	}
	if len(list) == 0 {
		return "Use a smaller or a quantized model."
	}
	return "These fit: " + strings.Join(list, ", ") + "."
}

// packOf returns a pack of the length of a Config.
func packOf(c Config) text.Pack {
	x := text.Pack{Tokens: make([]int32, c.Length), Labels: make([]int32, c.Length), Lengths: []int{c.Length}, Learned: c.Length}
	if c.DPO {
		x.Lengths, x.Pairs = []int{c.Length / 2, c.Length - c.Length/2}, 1
	}
	return x
}

// measure returns the Plan of a Config for packs.
func (p planner) measure(c Config, packs []text.Pack, again llama.Recompute) (plan Plan, err error) {
	dev := phantom.Open(p.device)
	defer func() { err = errors.Join(err, dev.Close()) }()
	r := &replica{device: dev, config: &c, world: p.world, bucket: bucketBytes, blank: true}
	defer func() { err = errors.Join(r.Close(), err) }()
	if err := r.load(p.files); err != nil {
		return plan, err
	}
	r.model.Recompute(again)
	m := meter{dev: dev}
	plan = Plan{Weights: m.more(), Room: p.room, Recompute: again, Layers: r.model.Layers}
	if err := r.begin("", position{}, 1); err != nil {
		return plan, err
	}
	if err := r.parameters(&plan); err != nil {
		return plan, err
	}
	m.more()
	r.forwarded = func() { plan.Activations = max(plan.Activations, m.more()) }
	for range 2 { // the memory of the optimizer is there from the end of the first step on
		for _, pack := range packs {
			m.last = m.used() // forwarded is called in the midst
			if _, err := r.learn(context.Background(), 0, pack, 1); err != nil {
				return plan, err
			}
		}
		before := m.used()
		if err := tensor.RunOn(context.Background(), r.stream, r.alone); err != nil {
			return plan, err
		}
		plan.Optimizer += m.used() - before
	}
	stats, err := dev.MemoryStats()
	plan.Total = stats.Peak
	plan.Workspace = plan.Total - plan.Weights - plan.Masters - plan.Gradients - plan.Optimizer - plan.Activations
	return plan, err
}

// alone takes a step of the optimizer without the other replicas.
func (r *replica) alone(s *tensor.Scope) error {
	if r.divided() {
		if _, err := r.opt.Measure(s); err != nil {
			return err
		}
	}
	_, err := r.update(s)
	return err
}

// parameters adds the memory of what is trained to a Plan.
func (r *replica) parameters(plan *Plan) error {
	before, err := r.device.MemoryStats()
	if err != nil {
		return err
	}
	return tensor.RunOn(context.Background(), r.stream, func(s *tensor.Scope) error {
		m, err := r.subject.Params().Memory(s)
		if err != nil {
			return err
		}
		after, err := r.device.MemoryStats()
		plan.Masters = int64(4 * m.Master.Len())
		plan.Gradients = int64(m.Grads.Len() * m.Grads.DType().Size())
		plan.Weights += max(after.Used-before.Used-plan.Masters-plan.Gradients, 0)
		return err
	})
}

// meter measures how much memory of a device is in use.
type meter struct {
	dev  *device.Device
	last int64
}

// used returns the bytes in use.
func (m *meter) used() int64 {
	stats, err := m.dev.MemoryStats()
	if err != nil {
		panic("BUG: finetune: " + err.Error())
	}
	return stats.Used
}

// more returns by how much they have grown.
func (m *meter) more() int64 {
	now := m.used()
	n := now - m.last
	m.last = now
	return n
}

// recomputes reports whether a value of Config.Recompute is valid.
func recomputes(value string) bool {
	return slices.Contains([]string{"", recomputeNone, recomputeCheap, recomputeMLP, recomputeLayers}, value)
}
