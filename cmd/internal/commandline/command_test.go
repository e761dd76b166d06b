package commandline_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cmd/internal/commandline"
)

type common struct {
	Model string `required:"" placeholder:"FILE" help:"A file."`
}

type answer struct {
	common
	MaxTokens int           `placeholder:"N" help:"A number."`
	TopP      float64       `default:"0.5"`
	Seed      uint64        `short:"s"`
	Wait      time.Duration `default:"1s"`
	Raw       bool
	Type      string   `name:"dtype" enum:"auto,f32,f16" default:"auto"`
	Stop      []string `sep:"none" placeholder:"TEXT"`
	Add       []string `default:"all"`
	Key       []string `sep:"none" env:"COMMANDLINE_TEST_KEY"`
	Schema    string   `xor:"grammar"`
	Pattern   string   `xor:"grammar"`
	Prompt    string   `arg:"" help:"A prompt."`
	More      []string `arg:"" optional:"" name:"word"`
}

type say struct {
	Text *string `arg:"" optional:""`
}

func (answer) Help() string { return "Answers." }

type program struct {
	Answer answer `cmd:"" help:"Print an answer."`
	Run    struct {
		Device string
		Name   string   `arg:""`
		Args   []string `arg:"" optional:"" passthrough:""`
	} `cmd:""`
	Trace struct {
		Out   string
		Inner struct{ Depth int } `embed:""`
	} `cmd:""`
	Say   say `cmd:""`
	Group struct {
		List struct{} `cmd:""`
		Drop struct {
			Item []string `arg:""`
		} `cmd:""`
	} `cmd:""`
}

func TestParse(t *testing.T) {
	usual := answer{TopP: 0.5, Wait: time.Second, Type: "auto", Add: []string{"all"}}
	set := func(change func(*program)) program {
		p := program{Answer: usual}
		change(&p)
		return p
	}
	basic := func(change func(*answer)) program {
		return set(func(p *program) {
			p.Answer.Model, p.Answer.Prompt = "m", "x"
			change(&p.Answer)
		})
	}
	for _, c := range []struct {
		args []string
		path string
		want program
	}{
		{[]string{"answer", "-model", "m", "x"}, "p answer", basic(func(*answer) {})},
		{[]string{"answer", "x", "--model=m"}, "p answer", basic(func(*answer) {})},
		{[]string{"answer", "-model", "l", "-model", "m", "x"}, "p answer", basic(func(*answer) {})},
		{[]string{"answer", "-model=m", "-max-tokens=-3", "-top-p", "-1.5", "-s", "0x10", "-wait=2m", "x"}, "p answer", basic(func(a *answer) {
			a.MaxTokens, a.TopP, a.Seed, a.Wait = -3, -1.5, 16, 2*time.Minute
		})},
		{[]string{"answer", "-model=m", "-raw", "x"}, "p answer", basic(func(a *answer) { a.Raw = true })},
		{[]string{"answer", "-model=m", "-raw", "-raw=no", "x"}, "p answer", basic(func(*answer) {})},
		{[]string{"answer", "-model=m", "-dtype=f16", "-pattern", "", "x"}, "p answer", basic(func(a *answer) { a.Type = "f16" })},
		{[]string{"answer", "-model=m", "-stop=a,b", "-stop", "c", "-add=d,e", "-add", "f", "x"}, "p answer", basic(func(a *answer) {
			a.Stop, a.Add = []string{"a,b", "c"}, []string{"d", "e", "f"}
		})},
		{[]string{"answer", "-model=m", "-add=", "x"}, "p answer", basic(func(a *answer) { a.Add = nil })},
		{[]string{"answer", "-model=m", "x", "-", "--", "-y", "--"}, "p answer", basic(func(a *answer) { a.More = []string{"-", "-y", "--"} })},
		{[]string{"answer", "-model=m", "x", "", "a, b", ""}, "p answer", basic(func(a *answer) { a.More = []string{"", "a, b", ""} })},
		{[]string{"say"}, "p say", set(func(*program) {})},
		{[]string{"say", ""}, "p say", set(func(p *program) { p.Say.Text = new("") })},
		{[]string{"say", "a"}, "p say", set(func(p *program) { p.Say.Text = new("a") })},
		{[]string{"run", "-device=d", "n", "-device=e", "--", "z", "-h"}, "p run", set(func(p *program) {
			p.Run.Device, p.Run.Name, p.Run.Args = "d", "n", []string{"-device=e", "--", "z", "-h"}
		})},
		{[]string{"run", "--", "-n", "--", "z"}, "p run", set(func(p *program) { p.Run.Name, p.Run.Args = "-n", []string{"--", "z"} })},
		{[]string{"trace", "-depth=2", "-out=o"}, "p trace", set(func(p *program) { p.Trace.Out, p.Trace.Inner.Depth = "o", 2 })},
		{[]string{"group", "list"}, "p group list", program{Answer: usual}},
		{[]string{"group", "drop", "a", "b"}, "p group drop", set(func(p *program) { p.Group.Drop.Item = []string{"a", "b"} })},
	} {
		var got program
		command, err := commandline.New("p", "", &got).Parse(c.args)
		if err != nil || command.Path() != c.path {
			t.Errorf("%q: %v, %v", c.args, command.Path(), err)
		} else if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q:\ngot  %+v\nwant %+v", c.args, got, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, `expected one of "answer", "run", "trace", "say", "group"`},
		{[]string{"walk"}, "unknown command walk"},
		{[]string{"far"}, "unknown command far"},
		{[]string{"trance"}, `unknown command trance, did you mean "trace"?`},
		{[]string{"group", "lst", "x"}, `unknown command lst, did you mean "list"?`},
		{[]string{"-x"}, "unknown flag -x"},
		{[]string{"group"}, `expected one of "list", "drop"`},
		{[]string{"group", "list", "x"}, "unexpected argument x"},
		{[]string{"group", "drop"}, `expected "<item> ..."`},
		{[]string{"--", "answer"}, "unexpected argument answer"},
		{[]string{"trace", "x"}, "unexpected argument x"},
		{[]string{"answer"}, "missing flags: -model=FILE"},
		{[]string{"answer", "-model=m"}, `expected "<prompt>"`},
		{[]string{"answer", "-model"}, "-model needs a value"},
		{[]string{"answer", "-model", "-raw"}, "-model needs a value; perhaps -model=-raw is meant"},
		{[]string{"answer", "-modell=m"}, `unknown flag -modell, did you mean "-model"?`},
		{[]string{"answer", "-nonsense", "-help"}, "unknown flag -nonsense"},
		{[]string{"answer", "-max-tokens=1.5"}, `-max-tokens is "1.5"; want an integer`},
		{[]string{"answer", "-seed=-1"}, `-seed is "-1"; want an integer that is not negative`},
		{[]string{"answer", "-top-p=x"}, `-top-p is "x"; want a number`},
		{[]string{"answer", "-wait=3"}, `-wait is "3"; want a duration, such as 30s or 1h30m`},
		{[]string{"answer", "-raw=maybe"}, `-raw is "maybe"; want true or false`},
		{[]string{"answer", "-dtype=f64"}, `-dtype must be auto or f32 or f16, but is "f64"`},
		{[]string{"answer", "-model=m", "-schema=a", "-pattern=b", "x"}, "-schema and -pattern can't be used together"},
	} {
		if _, err := commandline.New("p", "", &program{}).Parse(c.args); err == nil || err.Error() != c.want {
			t.Errorf("%q: got %v, want %s", c.args, err, c.want)
		}
	}
}

func TestHelp(t *testing.T) {
	root := commandline.New("p", "A program.", &program{})
	for _, args := range [][]string{{"-h", "answer"}, {"answer", "--help"}, {"answer", "-help", "-raw"}} {
		command, err := root.Parse(args)
		if !errors.Is(err, commandline.ErrHelp) || command.Name != "answer" || command.Detail != "Answers." || command.Help != "Print an answer." {
			t.Errorf("%q: %+v, %v", args, command, err)
		}
	}
	command, err := root.Parse([]string{"-help"})
	if command != root || !errors.Is(err, commandline.ErrHelp) {
		t.Errorf("%+v, %v", command, err)
	}
	answer := root.Children[0]
	for i, want := range []string{"FILE", "N", "0.5", "SEED", "1s", "RAW", `"auto"`, "TEXT", "all,..."} {
		if got := answer.Flags[i].Placeholder(); got != want {
			t.Errorf("the placeholder of %s is %s, want %s", answer.Flags[i].Name, got, want)
		}
	}
	if got := answer.Args[0].Summary() + " " + answer.Args[1].Summary(); got != "<prompt> [<word> ...]" {
		t.Error(got)
	}
	if !answer.Flags[5].IsBool() || answer.Flags[0].IsBool() {
		t.Error("raw is a boolean flag, and model is none")
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("COMMANDLINE_TEST_KEY", "a,b")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"answer", "-model=m", "x"}, []string{"a,b"}},
		{[]string{"answer", "-model=m", "-key=c", "x"}, []string{"c"}},
	} {
		var p program
		if _, err := commandline.New("p", "", &p).Parse(c.args); err != nil || !reflect.DeepEqual(p.Answer.Key, c.want) {
			t.Errorf("%q: %v, %v", c.args, p.Answer.Key, err)
		}
	}
}

// TestGiven says which flags are set, also those that are set to their defaults.
func TestGiven(t *testing.T) {
	var p struct {
		Train struct {
			Rate  float64
			Seed  uint64
			DoRA  bool `name:"dora"`
			Save  int
			Key   []string `sep:"none" env:"COMMANDLINE_TEST_KEY"`
			Given commandline.Given
		} `cmd:""`
	}
	t.Setenv("COMMANDLINE_TEST_KEY", "a")
	if _, err := commandline.New("program", "", &p).Parse([]string{"train", "-rate", "0", "-dora=false", "-save=3"}); err != nil {
		t.Fatal(err)
	}
	if want := (commandline.Given{"rate": 0., "dora": false, "save": 3, "key": []string{"a"}}); !reflect.DeepEqual(p.Train.Given, want) {
		t.Errorf("%v, want %v", p.Train.Given, want)
	}
}
