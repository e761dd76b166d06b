package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// phases are names of phases, and the times in ms at which they ended, in order.
type phases struct {
	names []string
	at    []float64
}

func (p *phases) mark(began time.Time, name string) {
	p.names, p.at = append(p.names, name), append(p.at, float64(time.Since(began))/1e6)
}

// String returns "NAME MS NAME MS ...".
func (p phases) String() string {
	var words []string
	for i, name := range p.names {
		words = append(words, fmt.Sprintf("%s %.3f", name, p.at[i]))
	}
	return strings.Join(words, " ")
}

// parse parses the result of String.
func parse(line string) (p phases, err error) {
	words := strings.Fields(line)
	for i := 0; i+1 < len(words); i += 2 {
		at, err := strconv.ParseFloat(words[i+1], 64)
		if err != nil {
			return p, err
		}
		p.names, p.at = append(p.names, words[i]), append(p.at, at)
	}
	if len(p.names) == 0 || p.names[len(p.names)-1] != "result" {
		return p, fmt.Errorf("no result in %q", line)
	}
	return p, nil
}

// compare runs this program and the peer alternately and writes medians. It also writes the times
// of the results as JSON for gopherwarp bench -add, without package encoding/json, because this
// program should start as fast as a small one.
func compare(w, asJSON io.Writer, peer string, runs int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var results []string
	for _, kind := range []struct{ name, id, disable string }{
		{"compiled PTX in the driver's cache", "start-cached", "0"},
		{"no cache of compiled PTX", "start-uncached", "1"},
	} {
		var all [2][]phases
		for i := range runs + 1 {
			for k, program := range [...]string{self, peer} {
				p, err := start(program, "CUDA_CACHE_DISABLE="+kind.disable)
				if err != nil {
					return fmt.Errorf("%s: %w", program, err)
				}
				if i > 0 { // the first run fills caches
					all[k] = append(all[k], p)
				}
			}
		}
		ours, bare := medians(all[0]), medians(all[1])
		ms, bareMS := ours.at[len(ours.at)-1], bare.at[len(bare.at)-1]
		fmt.Fprintf(w, "%s, medians of %d, ms since the start of the process\n  Go   %v\n  bare %v\n  ratio %.3f\n",
			kind.name, runs, ours, bare, ms/bareMS)
		results = append(results, result(kind.id, ms, bareMS))
	}
	_, err = fmt.Fprintf(asJSON, "{\"results\": [\n%s\n]}\n", strings.Join(results, ",\n"))
	return err
}

// result returns both times in ms as JSON of package report.
func result(name string, ours, bare float64) string {
	return fmt.Sprintf(`{"name": %q, "group": "start", "size": 0, "measurements": [`+
		`{"by": "gopherwarp", "seconds": %.6f}, {"by": "bare", "seconds": %.6f}]}`, name, ours/1e3, bare/1e3)
}

// start runs a program and parses its output.
func start(program, environment string) (phases, error) {
	var out bytes.Buffer
	command := exec.Command(program)
	command.Env = append(os.Environ(), environment)
	command.Stdout, command.Stderr = &out, os.Stderr
	command.Args = append(command.Args, "-since", strconv.FormatInt(time.Now().UnixNano(), 10))
	if err := command.Run(); err != nil {
		return phases{}, err
	}
	return parse(out.String())
}

// medians returns the median of each phase.
func medians(all []phases) phases {
	m := phases{names: all[0].names}
	for i := range m.names {
		var at []float64
		for _, p := range all {
			at = append(at, p.at[i])
		}
		slices.Sort(at)
		m.at = append(m.at, at[len(at)/2])
	}
	return m
}
