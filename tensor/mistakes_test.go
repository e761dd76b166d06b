package tensor_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// TestStatedMistakes makes the mistakes that the comments of operations state.
func TestStatedMistakes(t *testing.T) {
	dev := kerneltest.Device(t, cpu.Open)
	type T = *tensor.Tensor
	for _, c := range []struct {
		name string
		want error
		f    func(s *tensor.Scope, x, row, whole T) T // x is [2 3], row [4], whole of int64 [2 3]
	}{
		{"Add", tensor.ErrShape, func(_ *tensor.Scope, x, row, _ T) T { return x.Add(row) }},
		{"Where", tensor.ErrDType, func(_ *tensor.Scope, x, _, _ T) T { return tensor.Where(x, x, x) }},
		{"Where", tensor.ErrShape, func(_ *tensor.Scope, x, row, _ T) T { return tensor.Where(x.Less(x), x, row) }},
		{"SwiGLU", tensor.ErrShape, func(_ *tensor.Scope, x, row, _ T) T { return tensor.SwiGLU(x, row) }},
		{"SwiGLU", tensor.ErrDType, func(_ *tensor.Scope, _, _, whole T) T { return tensor.SwiGLU(whole, whole) }},
		{"To", tensor.ErrDType, func(_ *tensor.Scope, x, _, _ T) T { return x.To(dtype.Invalid) }},
		{"MatMul", tensor.ErrShape, func(_ *tensor.Scope, x, row, _ T) T { return x.MatMul(row) }},
		{"MatMul", tensor.ErrDType, func(_ *tensor.Scope, _, _, whole T) T { return whole.MatMul(whole.T()) }},
		{"AddMatMul", tensor.ErrShape, func(_ *tensor.Scope, x, _, _ T) T { return x.AddMatMul(x, x.T()) }},
		{"Linear", tensor.ErrShape, func(_ *tensor.Scope, x, row, _ T) T { return x.Linear(row.Unsqueeze(0), nil) }},
		{"Linear", tensor.ErrDType, func(_ *tensor.Scope, _, _, whole T) T { return whole.Linear(whole, nil) }},
		{"Attention", tensor.ErrShape, func(_ *tensor.Scope, x, _, _ T) T { return tensor.Attention(x, x, x, tensor.AttentionOptions{}) }},
		{"Conv2d", tensor.ErrShape, func(_ *tensor.Scope, x, _, _ T) T { return x.Conv2d(x, nil, tensor.ConvOptions{}) }},
		{"MeanPool2d", tensor.ErrShape, func(_ *tensor.Scope, x, _, _ T) T { return x.MeanPool2d(2, tensor.Window{}) }},
		{"RMSNorm", tensor.ErrShape, func(_ *tensor.Scope, x, row, _ T) T { return x.RMSNorm(row, tensor.NormOptions{}) }},
		{"RMSNorm", tensor.ErrDType, func(_ *tensor.Scope, _, _, whole T) T {
			return whole.RMSNorm(whole.Slice(0, 0, 1).Squeeze(0), tensor.NormOptions{})
		}},
		{"LayerNorm", tensor.ErrValue, func(_ *tensor.Scope, x, _, _ T) T {
			w := x.Slice(0, 0, 1).Squeeze(0)
			return x.LayerNorm(w, w, tensor.NormOptions{Epsilon: -1})
		}},
		{"CrossEntropy", tensor.ErrShape, func(_ *tensor.Scope, x, _, whole T) T { return x.CrossEntropy(whole) }},
		{"CrossEntropyRows", tensor.ErrDType, func(_ *tensor.Scope, x, _, _ T) T { return x.CrossEntropyRows(x.Sum(1)) }},
		{"Angles", tensor.ErrDType, func(_ *tensor.Scope, x, row, _ T) T { return tensor.Angles(row, row) }},
		{"Rotate", tensor.ErrShape, func(_ *tensor.Scope, x, row, _ T) T { return x.Rotate(row) }},
		{"Take", tensor.ErrDType, func(_ *tensor.Scope, x, row, _ T) T { return x.Take(0, row) }},
		{"Take", tensor.ErrValue, func(_ *tensor.Scope, x, _, whole T) T { return x.Take(2, whole) }},
		{"Gather", tensor.ErrShape, func(_ *tensor.Scope, x, _, whole T) T { return x.Gather(0, whole.Sum(0)) }},
		{"Concat", tensor.ErrShape, func(_ *tensor.Scope, x, row, _ T) T { return tensor.Concat(0, x, row) }},
		{"Concat", tensor.ErrValue, func(_ *tensor.Scope, x, _, _ T) T { return tensor.Concat(2, x, x) }},
		{"Stack", tensor.ErrShape, func(_ *tensor.Scope, x, row, _ T) T { return tensor.Stack(0, x, row) }},
		{"Sum", tensor.ErrValue, func(_ *tensor.Scope, x, _, _ T) T { return x.Sum(2) }},
		{"Mean", tensor.ErrValue, func(_ *tensor.Scope, x, _, _ T) T { return x.Mean(1, -1) }},
		{"Max", tensor.ErrShape, func(_ *tensor.Scope, x, _, _ T) T { return x.Slice(1, 0, 0).Max(1) }},
		{"LogSumExp", tensor.ErrShape, func(_ *tensor.Scope, x, _, _ T) T { return x.Slice(1, 0, 0).LogSumExp(1) }},
		{"ScatterAdd", tensor.ErrDType, func(_ *tensor.Scope, x, _, whole T) T { return x.ScatterAdd(0, whole, whole) }},
		{"ArgMax", tensor.ErrValue, func(_ *tensor.Scope, x, _, _ T) T { return x.ArgMax(2) }},
		{"ArgMin", tensor.ErrShape, func(_ *tensor.Scope, x, _, _ T) T { return x.Slice(1, 0, 0).ArgMin(1) }},
		{"Softmax", tensor.ErrValue, func(_ *tensor.Scope, x, _, _ T) T { return x.Softmax(2) }},
		{"CumSum", tensor.ErrValue, func(_ *tensor.Scope, x, _, _ T) T { return x.CumSum(2) }},
		{"Sort", tensor.ErrValue, func(_ *tensor.Scope, x, _, _ T) T { v, _ := x.Sort(2); return v }},
		{"Top", tensor.ErrValue, func(_ *tensor.Scope, x, _, _ T) T { v, _ := x.Top(4); return v }},
		{"Zeros", tensor.ErrShape, func(s *tensor.Scope, _, _, _ T) T { return tensor.Zeros(s, dtype.Float32, -1) }},
		{"Zeros", tensor.ErrDType, func(s *tensor.Scope, _, _, _ T) T { return tensor.Zeros(s, dtype.Invalid, 1) }},
		{"Full", tensor.ErrShape, func(s *tensor.Scope, _, _, _ T) T { return tensor.Full(s, 1, dtype.Float32, -1) }},
		{"Full", tensor.ErrDType, func(s *tensor.Scope, _, _, _ T) T { return tensor.Full(s, 1, dtype.Invalid, 1) }},
		{"Arange", tensor.ErrShape, func(s *tensor.Scope, _, _, _ T) T { return tensor.Arange(s, -1) }},
		{"Uniform", tensor.ErrDType, func(s *tensor.Scope, _, _, _ T) T { return tensor.Uniform(s, dtype.Int32, 1) }},
		{"Normal", tensor.ErrShape, func(s *tensor.Scope, _, _, _ T) T { return tensor.Normal(s, dtype.Float32, -1) }},
		{"Integers", tensor.ErrValue, func(s *tensor.Scope, _, _, _ T) T { return tensor.Integers(s, 3, 3, 1) }},
		{"Bernoulli", tensor.ErrValue, func(s *tensor.Scope, _, _, _ T) T { return tensor.Bernoulli(s, 2, 1) }},
		{"Dropout", tensor.ErrValue, func(_ *tensor.Scope, x, _, _ T) T { return x.Dropout(1) }},
		{"Dropout", tensor.ErrDType, func(_ *tensor.Scope, _, _, whole T) T { return whole.Dropout(0.5) }},
		{"Expand", tensor.ErrShape, func(_ *tensor.Scope, x, _, _ T) T { return x.Expand(4, 3) }},
		{"Unsqueeze", tensor.ErrValue, func(_ *tensor.Scope, x, _, _ T) T { return x.Unsqueeze(4) }},
		{"Squeeze", tensor.ErrShape, func(_ *tensor.Scope, x, _, _ T) T { return x.Squeeze(0) }},
		{"Squeeze", tensor.ErrValue, func(_ *tensor.Scope, x, _, _ T) T { return x.Squeeze(2) }},
		{"T", tensor.ErrValue, func(_ *tensor.Scope, _, row, _ T) T { return row.T() }},
		{"Grad", tensor.ErrRecord, func(_ *tensor.Scope, x, _, _ T) T { return x.Grad() }},
		{"Variable", tensor.ErrRecord, func(s *tensor.Scope, x, _, _ T) T { return s.Variable(x) }},
	} {
		err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error {
			x := tensor.From(s, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
			return c.f(s, x, tensor.Zeros(s, dtype.Float32, 4), tensor.Arange(s, 6).Reshape(2, 3)).Err()
		})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want: %v", c.name, err, c.want)
		}
	}
}

// TestExamples looks for an example of each exported function: an Example, or lines of code in the comment.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var examples, functions []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if example, ok := strings.CutPrefix(f.Name.Name, "Example"); ok {
				examples = append(examples, example)
			} else if f.Name.IsExported() && !strings.HasSuffix(name, "_test.go") && !strings.Contains(f.Doc.Text(), "\n\n\t") {
				functions = append(functions, receiver(f)+f.Name.Name)
			}
		}
	}
	others := regexp.MustCompile(`^(B?F(16|32)_Map.*|MapBackKernel|Error_.*|Graph_Close)$`) // which the examples of Apply, Error and Capture need
	functions = slices.DeleteFunc(functions, others.MatchString)
	for _, f := range functions {
		if !slices.ContainsFunc(examples, func(e string) bool { return e == f || strings.HasPrefix(e, f+"_") }) {
			t.Errorf("%s has no example", f)
		}
	}
}

// receiver returns the name of the type of a method and "_".
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	if name, ok := of.(*ast.Ident); ok && name.IsExported() {
		return name.Name + "_"
	}
	return "_"
}

// A nil tensor has no properties, and only the operations on it are mistakes.
func TestNilTensor(t *testing.T) {
	var x *tensor.Tensor
	if x.Scope() != nil || x.DType() != dtype.Invalid || len(x.Shape()) != 0 || x.Dims() != 0 || x.Dim(0) != 0 || x.Dim(-1) != 0 || x.Len() != 0 || x.NeedsGrad() || x.Recorded() ||
		!x.IsContiguous() || x.Contiguous() != nil || x.String() != "nil" || !errors.Is(x.Err(), tensor.ErrValue) {
		t.Errorf("a nil tensor has properties: %v", x)
	}
	tensor.Changed(x)
	for name, y := range map[string]*tensor.Tensor{
		"GELU": x.GELU(), "Add": x.Add(x), "MatMul": x.MatMul(x), "Reshape": x.Reshape(1), "Linear": x.Linear(x, x), "LayerNorm": x.LayerNorm(x, x, tensor.NormOptions{}), "Sum": x.Sum(),
	} {
		if err := y.Err(); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), "a nil tensor (mistakes_test.go:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
