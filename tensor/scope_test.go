package tensor_test

import (
	"errors"
	"regexp"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// TestMisusedOperands has a tensor that was freed with its Scope, or none, at each place: Run returns the first mistake.
func TestMisusedOperands(t *testing.T) {
	type T = *tensor.Tensor
	var freed, none T
	if err := onCPU(t, func(s *tensor.Scope) error { freed = tensor.Full(s, 1, dtype.Float32, 2); return nil }); err != nil {
		t.Fatal(err)
	}
	const line = `scope_test.go:\d+`
	freedBy := func(op string) string {
		return `^tensor: ` + op + `: scope: the tensor was freed at tensor_test.go:\d+ \(` + line + `\)$`
	}
	nilOf := func(op string) string {
		return `^tensor: ` + op + `: argument out of range: a nil tensor \(` + line + `\)$`
	}
	for _, c := range []struct {
		cause error
		want  string
		f     func(x T) T
	}{
		{tensor.ErrScope, freedBy("Add"), func(x T) T { return freed.Add(x) }},
		{tensor.ErrScope, freedBy("Add"), func(x T) T { return x.Add(freed) }},
		{tensor.ErrScope, freedBy("Neg"), func(x T) T { return freed.Neg().Add(x) }},
		{tensor.ErrScope, freedBy("Neg"), func(x T) T { return x.Add(freed.Neg()) }},
		{tensor.ErrScope, freedBy("MatMul"), func(x T) T { return freed.MatMul(x) }},
		{tensor.ErrScope, freedBy("Where"), func(x T) T { return tensor.Where(freed, x, x) }},
		{tensor.ErrScope, freedBy("Concat"), func(x T) T { return tensor.Concat(0, freed, x) }},
		{tensor.ErrScope, freedBy("Use"), func(x T) T { return x.Scope().Use(freed) }},
		{tensor.ErrValue, nilOf("Add"), func(x T) T { return none.Add(x) }},
		{tensor.ErrValue, nilOf("Add"), func(x T) T { return x.Add(none) }},
		{tensor.ErrValue, nilOf("Neg"), func(x T) T { return none.Neg().Add(x) }},
		{tensor.ErrValue, nilOf("MatMul"), func(x T) T { return none.MatMul(x) }},
		{tensor.ErrValue, nilOf("Linear"), func(x T) T { return none.Linear(x, nil) }},
		{tensor.ErrValue, nilOf("Take"), func(x T) T { return none.Take(0, x) }},
		{tensor.ErrValue, nilOf("CrossEntropy"), func(x T) T { return none.CrossEntropy(x) }},
		{tensor.ErrValue, nilOf("RMSNorm"), func(x T) T { return none.RMSNorm(x, tensor.NormOptions{}) }},
		{tensor.ErrValue, nilOf("LayerNorm"), func(x T) T { return none.LayerNorm(x, x, tensor.NormOptions{}) }},
		{tensor.ErrValue, nilOf("SwiGLU"), func(x T) T { return tensor.SwiGLU(none, x) }},
		{tensor.ErrValue, nilOf("Rotate"), func(x T) T { return none.Rotate(x) }},
		{tensor.ErrValue, nilOf("Attention"), func(x T) T { return tensor.Attention(none, x, x, tensor.AttentionOptions{}) }},
		{tensor.ErrValue, nilOf("Less"), func(x T) T { return none.Less(x) }},
		{tensor.ErrValue, nilOf("Conv2d"), func(x T) T { return none.Conv2d(x, nil, tensor.ConvOptions{}) }},
		{tensor.ErrValue, nilOf("AddMatMul"), func(x T) T { return none.AddMatMul(x, x) }},
		{tensor.ErrValue, nilOf("AddLinear"), func(x T) T { return none.AddLinear(x, x, nil) }},
		{tensor.ErrValue, nilOf("Gather"), func(x T) T { return none.Gather(0, x) }},
		{tensor.ErrValue, nilOf("ScatterAdd"), func(x T) T { return none.ScatterAdd(0, x, x) }},
	} {
		err := onCPU(t, func(s *tensor.Scope) error {
			x := tensor.Full(s, 1, dtype.Float32, 2)
			if y := c.f(x); y.Err() == nil || y.Err() != s.Err() {
				t.Errorf("the result has the mistake %v, and the Scope %v", y.Err(), s.Err())
			}
			x.Scale(2).Reshape(5) // another mistake
			return nil
		})
		if !errors.Is(err, c.cause) || !regexp.MustCompile(c.want).MatchString(err.Error()) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	for range 2 {
		if err := freed.Exp().Err(); !errors.Is(err, tensor.ErrScope) || !regexp.MustCompile(freedBy("Exp")).MatchString(err.Error()) {
			t.Errorf("without a running Scope: %v", err)
		}
	}
}
