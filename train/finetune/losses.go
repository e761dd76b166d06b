package finetune

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/weights"
)

// losses is a file with a line for each step.
type losses struct {
	name string
	file *os.File
}

// header is the first line.
const header = "step,epoch,tokens,loss,eval,rate,norm,accuracy"

// open opens the file for lines after those of some steps, and removes the lines of later ones.
func (l *losses) open(steps int) error {
	keep := header + "\n"
	text, err := os.ReadFile(l.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for line := range strings.Lines(string(text)) {
		number, _, _ := strings.Cut(line, ",")
		if n, err := strconv.Atoi(number); err == nil && n <= steps && strings.HasSuffix(line, "\n") {
			keep += line
		}
	}
	if err := weights.Save(l.name, func(w io.Writer) error {
		_, err := io.WriteString(w, keep)
		return err
	}); err != nil {
		return err
	}
	l.file, err = os.OpenFile(l.name, os.O_APPEND|os.O_WRONLY, 0)
	return err
}

// column is a number of a step, which is NaN if there is none.
type column struct {
	name   string
	value  float64
	digits int
}

// columns returns those of a line after the first three.
func (p Progress) columns() []column {
	return []column{{"loss", p.Loss, 8}, {"eval", p.Eval, 8}, {"rate", p.Rate, 6}, {"norm", p.Norm, 6}, {"accuracy", p.Accuracy, 4}}
}

// add adds the line of a step.
func (l *losses) add(p Progress) error {
	line := fmt.Sprintf("%d,%d,%d", p.Step, p.Epoch, p.Tokens)
	for _, x := range p.columns() {
		if line += ","; !math.IsNaN(x.value) && !math.IsInf(x.value, 0) {
			line += strconv.FormatFloat(x.value, 'g', x.digits, 64)
		}
	}
	_, err := fmt.Fprintln(l.file, line)
	return err
}

// sync flushes the lines to the disk, before a checkpoint that follows them.
func (l *losses) sync() error { return l.file.Sync() }

// close closes the file.
func (l *losses) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// A Point is a line of a file losses.csv.
type Point struct {
	Step       int
	Loss, Eval float64 // Eval is NaN if it was not computed; Loss is NaN if the step was skipped because the loss was not finite
}

// ReadLosses reads a file losses.csv, which Run writes to Config.Out.
func ReadLosses(name string) (list []Point, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if lines.Text() == header {
			continue
		}
		p, err := pointOf(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		list = append(list, p)
	}
	return list, lines.Err()
}

// pointOf parses a line.
func pointOf(line string) (p Point, err error) {
	parts := strings.Split(line, ",")
	if len(parts) != strings.Count(header, ",")+1 {
		return p, fmt.Errorf("%d values, want those of %s", len(parts), header)
	}
	p.Eval = math.NaN()
	var wrong [3]error
	p.Step, wrong[0] = strconv.Atoi(parts[0])
	if p.Loss = math.NaN(); parts[3] != "" {
		p.Loss, wrong[1] = strconv.ParseFloat(parts[3], 64)
	}
	if parts[4] != "" {
		p.Eval, wrong[2] = strconv.ParseFloat(parts[4], 64)
	}
	return p, errors.Join(wrong[:]...)
}
