// Command requests measures the server of a model that computes vectors of texts or classes of pictures, with clients in the same process:
//
//	gopherwarp run ./bench/requests -model models/all_minilm_l6_v2 -items 1,16
//	gopherwarp run ./bench/requests -items 1 # a ResNet-50 with random weights
//
// It prints the rate of the model without a server, the times of the requests of a single client, and the rate of many clients that each
// wait for their answers. Then it sends requests at random moments, whether or not earlier requests have been answered, and prints their
// times: first at 80 % of the rate of the many clients, and then at three times that rate, at which the server must refuse most requests.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/embeddings"
)

func main() {
	var p plan
	flag.StringVar(&p.model, "model", "", "folder or file of the model; without it, a ResNet-50 with random weights")
	items := flag.String("items", "1,16", "numbers of texts in a request; pictures come alone")
	flag.IntVar(&p.words, "words", 126, "words of a text")
	flag.IntVar(&p.side, "side", 224, "width and height of a picture")
	flag.IntVar(&p.users, "users", 256, "clients at once, and requests that the server admits")
	flag.DurationVar(&p.span, "span", 10*time.Second, "time of the load of 80 %; the others last for a fifth of it")
	flag.Parse()
	dev, err := gopherwarp.Open()
	if err == nil {
		if p.items, err = numbers(*items); err == nil {
			err = run(context.Background(), os.Stdout, dev, p)
		}
		err = errors.Join(err, dev.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "requests:", err)
		os.Exit(1)
	}
}

// plan is what is measured.
type plan struct {
	model       string
	items       []int
	words, side int
	users       int
	span        time.Duration
}

// numbers returns the numbers of a list with commas.
func numbers(text string) (list []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-items: %q is no number of items", part)
		}
		list = append(list, n)
	}
	return list, nil
}

// run measures a model.
func run(ctx context.Context, out io.Writer, dev *device.Device, p plan) error {
	open := p.pictures
	if p.model != "" && embeddings.Supports(p.model) {
		open = p.texts
	}
	s, err := open(dev)
	if err != nil {
		return err
	}
	stop, err := s.listen(ctx)
	if err != nil {
		return errors.Join(err, s.close())
	}
	fmt.Fprintf(out, "%v\n", dev.Info())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "load\titems\titems/s\tof the model\tmean, ms\tmedian\t99 %\tof one client\trefused/s\trefusal, ms: median\t99 %\t\n")
	for _, n := range p.items {
		if err = (&bench{p, s, w, n}).run(ctx); err != nil {
			break
		}
	}
	return errors.Join(err, w.Flush(), stop(), s.close())
}

// bench measures requests with a number of items.
type bench struct {
	plan
	*service
	w io.Writer
	n int
}

// run runs all loads.
func (b *bench) run(ctx context.Context) error {
	most, err := b.alone(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.w, "the model itself\t%d\t%.0f\t1.000\t\t\t\t\t\t\t\t\n", b.n, most)
	one, err := b.closed(ctx, 1, b.span/5)
	if err != nil {
		return err
	}
	base := one.quantile(0.99)
	row := func(name string, t *tally) {
		rate := t.rate() * float64(b.n)
		fmt.Fprintf(b.w, "%s\t%d\t%.0f\t%.3f\t%s\t%.2f\t%s\t\n", name, b.n, rate, rate/most, t.times(), t.quantile(0.99).Seconds()/base.Seconds(), t.refusals())
	}
	row("one client", one)
	peak, err := b.closed(ctx, b.users, b.span/5)
	if err != nil {
		return err
	}
	row(fmt.Sprint(b.users, " clients"), peak)
	for _, l := range []struct {
		share float64
		span  time.Duration
	}{{0.8, b.span}, {3, b.span / 5}} {
		t, err := b.open(ctx, l.share*peak.rate(), l.span)
		if err != nil {
			return err
		}
		row(fmt.Sprintf("%.0f %% of these", 100*l.share), t)
	}
	return nil
}

// alone returns the number of items per second that the model computes without a server.
func (b *bench) alone(ctx context.Context) (float64, error) {
	if err := b.compute(ctx); err != nil { // warms up
		return 0, err
	}
	began, done := time.Now(), 0
	for time.Since(began) < b.span/5 {
		if err := b.compute(ctx); err != nil {
			return 0, err
		}
		done += b.batch
	}
	return float64(done) / time.Since(began).Seconds(), nil
}
