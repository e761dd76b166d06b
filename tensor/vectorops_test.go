package tensor_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// one is an operation on one tensor, without arguments.
func one(f func(x *tensor.Tensor) *tensor.Tensor) func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
	return func(in []*tensor.Tensor, _ []int) []*tensor.Tensor { return []*tensor.Tensor{f(in[0])} }
}

// two is an operation on two tensors.
func two(f func(x, y *tensor.Tensor) *tensor.Tensor) func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
	return func(in []*tensor.Tensor, _ []int) []*tensor.Tensor { return []*tensor.Tensor{f(in[0], in[1])} }
}

// along is an operation along some dimensions.
func along(f func(x *tensor.Tensor, dims ...int) *tensor.Tensor) func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
	return func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
		return []*tensor.Tensor{f(in[0], args...)}
	}
}

// first is an operation along one dimension.
func first(f func(x *tensor.Tensor, dim int) *tensor.Tensor) func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
	return func(in []*tensor.Tensor, args []int) []*tensor.Tensor { return []*tensor.Tensor{f(in[0], args[0])} }
}

// several is an operation on several tensors.
func several(f func(in []*tensor.Tensor, args []int) *tensor.Tensor) func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
	return func(in []*tensor.Tensor, args []int) []*tensor.Tensor { return []*tensor.Tensor{f(in, args)} }
}

// vectorOps are the operations of testdata/vectors.py.
var vectorOps = map[string]func(in []*tensor.Tensor, args []int) []*tensor.Tensor{
	"Neg": one((*tensor.Tensor).Neg), "Abs": one((*tensor.Tensor).Abs), "Sign": one((*tensor.Tensor).Sign), "Square": one((*tensor.Tensor).Square),
	"ReLU": one((*tensor.Tensor).ReLU), "Exp": one((*tensor.Tensor).Exp), "Tanh": one((*tensor.Tensor).Tanh), "Sigmoid": one((*tensor.Tensor).Sigmoid),
	"GELU": one((*tensor.Tensor).GELU), "SiLU": one((*tensor.Tensor).SiLU), "Sqrt": one((*tensor.Tensor).Sqrt), "Log": one((*tensor.Tensor).Log),

	"Add": two((*tensor.Tensor).Add), "Sub": two((*tensor.Tensor).Sub), "Mul": two((*tensor.Tensor).Mul), "Div": two((*tensor.Tensor).Div),
	"Pow": two((*tensor.Tensor).Pow), "Maximum": two((*tensor.Tensor).Maximum), "Minimum": two((*tensor.Tensor).Minimum),
	"Equal": two((*tensor.Tensor).Equal), "NotEqual": two((*tensor.Tensor).NotEqual), "Less": two((*tensor.Tensor).Less),
	"LessEqual": two((*tensor.Tensor).LessEqual), "Greater": two((*tensor.Tensor).Greater), "GreaterEqual": two((*tensor.Tensor).GreaterEqual),
	"MatMul": two((*tensor.Tensor).MatMul), "SwiGLU": two(tensor.SwiGLU), "CrossEntropy": two((*tensor.Tensor).CrossEntropy),

	"Sum": along((*tensor.Tensor).Sum), "Mean": along((*tensor.Tensor).Mean), "Max": along((*tensor.Tensor).Max), "Min": along((*tensor.Tensor).Min),
	"LogSumExp": along((*tensor.Tensor).LogSumExp), "Reshape": along((*tensor.Tensor).Reshape), "Expand": along((*tensor.Tensor).Expand),

	"ArgMax": first((*tensor.Tensor).ArgMax), "ArgMin": first((*tensor.Tensor).ArgMin), "Softmax": first((*tensor.Tensor).Softmax),
	"LogSoftmax": first((*tensor.Tensor).LogSoftmax), "CumSum": first((*tensor.Tensor).CumSum), "Squeeze": first((*tensor.Tensor).Squeeze),
	"Unsqueeze": first((*tensor.Tensor).Unsqueeze),

	"T": one((*tensor.Tensor).T), "Contiguous": one((*tensor.Tensor).Contiguous), "CrossEntropyRows": two((*tensor.Tensor).CrossEntropyRows),
	"Scale": quarters((*tensor.Tensor).Scale), "AddScalar": quarters((*tensor.Tensor).AddScalar), "PowScalar": quarters((*tensor.Tensor).PowScalar),
	"To": first(func(x *tensor.Tensor, i int) *tensor.Tensor { return x.To(conversions[i]) }),
	"Zeros": along(func(x *tensor.Tensor, shape ...int) *tensor.Tensor {
		return tensor.Zeros(x.Scope(), x.DType(), shape...)
	}),
	"Full": along(func(x *tensor.Tensor, args ...int) *tensor.Tensor {
		return tensor.Full(x.Scope(), float64(args[0])/4, x.DType(), args[1:]...)
	}),
	"Arange": first(func(x *tensor.Tensor, n int) *tensor.Tensor { return tensor.Arange(x.Scope(), n) }),

	"Sort": func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
		values, indices := in[0].Sort(args[0])
		return []*tensor.Tensor{values, indices}
	},
	"Top": func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
		values, indices := in[0].Top(args[0])
		return []*tensor.Tensor{values, indices}
	},
	"Where":      several(func(in []*tensor.Tensor, _ []int) *tensor.Tensor { return tensor.Where(in[0], in[1], in[2]) }),
	"Take":       several(func(in []*tensor.Tensor, args []int) *tensor.Tensor { return in[0].Take(args[0], in[1]) }),
	"Gather":     several(func(in []*tensor.Tensor, args []int) *tensor.Tensor { return in[0].Gather(args[0], in[1]) }),
	"ScatterAdd": several(func(in []*tensor.Tensor, args []int) *tensor.Tensor { return in[0].ScatterAdd(args[0], in[1], in[2]) }),
	"Concat":     several(func(in []*tensor.Tensor, args []int) *tensor.Tensor { return tensor.Concat(args[0], in...) }),
	"Stack":      several(func(in []*tensor.Tensor, args []int) *tensor.Tensor { return tensor.Stack(args[0], in...) }),
	"Transpose":  several(func(in []*tensor.Tensor, args []int) *tensor.Tensor { return in[0].Transpose(args[0], args[1]) }),
	"Slice":      several(func(in []*tensor.Tensor, args []int) *tensor.Tensor { return in[0].Slice(args[0], args[1], args[2]) }),
	"Take32":     several(func(in []*tensor.Tensor, args []int) *tensor.Tensor { return in[0].Take(args[0], int32s(in[1])) }),
	"Gather32":   several(func(in []*tensor.Tensor, args []int) *tensor.Tensor { return in[0].Gather(args[0], int32s(in[1])) }),
	"ScatterAdd32": several(func(in []*tensor.Tensor, args []int) *tensor.Tensor {
		return in[0].ScatterAdd(args[0], int32s(in[1]), in[2])
	}),
	"Linear": several(func(in []*tensor.Tensor, _ []int) *tensor.Tensor { return in[0].Linear(in[1], optional(in, 2)) }),
	"AddLinear": several(func(in []*tensor.Tensor, _ []int) *tensor.Tensor {
		return in[0].AddLinear(in[1], in[2], optional(in, 3))
	}),
	"AddMatMul": several(func(in []*tensor.Tensor, _ []int) *tensor.Tensor { return in[0].AddMatMul(in[1], in[2]) }),
	"Angles":    several(func(in []*tensor.Tensor, _ []int) *tensor.Tensor { return tensor.Angles(int32s(in[0]), in[1]) }),
	"Rotate": several(func(in []*tensor.Tensor, _ []int) *tensor.Tensor {
		return in[0].Rotate(in[1].To(in[0].DType()).Scale(1.0 / 8))
	}),
	"LayerNorm": several(func(in []*tensor.Tensor, _ []int) *tensor.Tensor {
		return in[0].LayerNorm(in[1], in[2], tensor.NormOptions{Epsilon: 1e-5})
	}),
	"RMSNorm": several(func(in []*tensor.Tensor, _ []int) *tensor.Tensor {
		return in[0].RMSNorm(in[1], tensor.NormOptions{Epsilon: 1e-5})
	}),
	"Attention": several(func(in []*tensor.Tensor, args []int) *tensor.Tensor {
		return tensor.Attention(in[0], in[1], in[2], tensor.AttentionOptions{Causal: args[0] == 1})
	}),
	"AttentionPacked": several(func(in []*tensor.Tensor, args []int) *tensor.Tensor {
		return tensor.Attention(in[0], in[1], in[2], tensor.AttentionOptions{Causal: args[0] == 1, Starts: int32s(in[3])})
	}),
	"AttentionTogether": several(func(in []*tensor.Tensor, args []int) *tensor.Tensor {
		h := tensor.Heads{Heads: args[0], KeyHeads: args[1], Dim: args[2]}
		return tensor.AttentionTogether(in[0], h, tensor.AttentionOptions{Causal: args[3] == 1})
	}),
	"Conv2d": several(convolution),
	"MaxPool2d": several(func(in []*tensor.Tensor, args []int) *tensor.Tensor {
		return in[0].MaxPool2d(args[0], tensor.Window{Stride: args[1], Before: args[2], After: args[3]})
	}),
	"MeanPool2d": several(func(in []*tensor.Tensor, args []int) *tensor.Tensor {
		return in[0].MeanPool2d(args[0], tensor.Window{Stride: args[1], Before: args[2], After: args[3]})
	}),
}

// conversions are the types that arguments of To in testdata/vectors.py are indices of.
var conversions = []dtype.Type{dtype.Bool, dtype.Uint8, dtype.Int32, dtype.Int64, dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64}

// quarters is an operation with a number, whose argument is four times the number.
func quarters(f func(x *tensor.Tensor, v float64) *tensor.Tensor) func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
	return func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
		return []*tensor.Tensor{f(in[0], float64(args[0])/4)}
	}
}

// int32s returns indices as int32, as a view that is not contiguous unless x is a scalar.
func int32s(x *tensor.Tensor) *tensor.Tensor { return view(x.To(dtype.Int32), "part") }

// optional returns operand i, or nil if there are fewer.
func optional(in []*tensor.Tensor, i int) *tensor.Tensor {
	if i < len(in) {
		return in[i]
	}
	return nil
}

// convolution applies Conv2d. Its arguments are the stride, the places before and after, and then numbers that tell whether it is
// depthwise, which activation follows, and whether there are a bias and a residual.
func convolution(in []*tensor.Tensor, args []int) *tensor.Tensor {
	o := tensor.ConvOptions{Window: tensor.Window{Stride: args[0], Before: args[1], After: args[2]}, Depthwise: args[3] == 1}
	o.Activation = []tensor.Activation{tensor.NoActivation, tensor.ReLUActivation, tensor.ReLU6Activation, tensor.SiLUActivation}[args[4]]
	var bias *tensor.Tensor
	if args[5] == 1 {
		bias = in[2]
	}
	if args[6] == 1 {
		o.Residual = in[len(in)-1]
	}
	return in[0].Conv2d(in[1], bias, o)
}

// withoutVectors are the exported functions and methods that return a Tensor and have no case in testdata/vectors.npz, with the reasons.
var withoutVectors = map[string]string{
	"Apply":           "the function is the program's: the script softsign of cmd/gopherwarp",
	"Op_Apply":        "the kernel is the program's: TestDerivatives",
	"Derivative_Sum":  "is for Op: TestSum",
	"Checkpoint":      "the function is the program's: TestDerivatives",
	"From":            "uploads the operands of all cases",
	"Wrap":            "does not compute: TestWrappedMemory",
	"ReadNPY":         "does not compute: TestNPYWithNumPy",
	"Uniform":         "is random: TestRandomNumbers",
	"Normal":          "is random: TestRandomNumbers",
	"Integers":        "is random: TestRandomNumbers",
	"Bernoulli":       "is random: TestRandomNumbers",
	"Tensor_Dropout":  "is random: TestDropout",
	"Tensor_Forget":   "does not compute: TestForget",
	"Tensor_Grad":     "returns the derivatives of all cases",
	"Scope_Parameter": "does not compute: TestParametersAccumulate",
	"Scope_Tidy":      "does not compute: TestTidyFreesEarly",
	"Scope_Use":       "does not compute: TestWrappedMemory",
	"Scope_Variable":  "does not compute; the operands of all cases with derivatives are variables",
}

// TestVectorsOfAllOperations looks for a case for each exported function and method that returns a Tensor.
func TestVectorsOfAllOperations(t *testing.T) {
	cases := map[string]bool{}
	for _, c := range readVectors(t).cases {
		cases[c.Op] = true
	}
	exceptions := 0
	for _, name := range operations(t) {
		_, excepted := withoutVectors[name]
		if excepted {
			exceptions++
		}
		if tested := cases[strings.TrimPrefix(name, "Tensor_")]; tested == excepted {
			t.Errorf("%s: has a case: %v, is in withoutVectors: %v; add a case to testdata/vectors.py and the function to vectorOps", name, tested, excepted)
		}
	}
	if exceptions != len(withoutVectors) {
		t.Errorf("%d functions of withoutVectors exist, want %d", exceptions, len(withoutVectors))
	}
	for op := range vectorOps {
		if !cases[op] {
			t.Errorf("%s of vectorOps has no case in testdata/vectors.npz", op)
		}
	}
}

// operations returns the exported functions and methods whose first result is a *Tensor, methods with the name of their type and "_".
func operations(t *testing.T) (list []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() && receiver(f) != "_" && returnsTensor(f) {
				list = append(list, receiver(f)+f.Name.Name)
			}
		}
	}
	return list
}

func returnsTensor(f *ast.FuncDecl) bool {
	if f.Type.Results == nil {
		return false
	}
	p, ok := f.Type.Results.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	of, ok := p.X.(*ast.Ident)
	return ok && of.Name == "Tensor"
}
