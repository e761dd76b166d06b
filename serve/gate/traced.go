package gate

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/batch"
	"github.com/gopherwarp/gopherwarp/serve/spans"
)

// nameSpan names the span of a request after the route of its handler.
func nameSpan(s *spans.Span, r *http.Request) {
	if s == nil {
		return
	}
	s.Name(r.Pattern)
	if _, route, ok := strings.Cut(r.Pattern, " "); ok {
		s.Set(spans.Attr("http.route", route))
	}
}

// endSpan records how a request has ended, with the names of OpenTelemetry's conventions. Only failures of the server are errors of the
// span.
func endSpan(s *spans.Span, r *http.Request, err error) {
	if s == nil {
		return
	}
	status := http.StatusOK
	switch {
	case errors.Is(err, ErrLeft), errors.Is(err, context.Canceled): // by the client, or at the end of the server
		s.Set(spans.Attr("error.type", "canceled"))
		return
	case err != nil:
		status = FailureOf(err).Status
	case r.Header.Get("Upgrade") != "":
		status = http.StatusSwitchingProtocols
	}
	s.Set(spans.Attr("http.response.status_code", status))
	if fails(err) {
		s.Set(spans.Attr("error.type", strconv.Itoa(status)))
		s.Fail(err.Error())
	}
}

// fails reports whether an error is a failure of the server, and not of the client.
func fails(err error) bool {
	return err != nil && !errors.Is(err, ErrLeft) && !errors.Is(err, context.Canceled) && FailureOf(err).Status >= http.StatusInternalServerError
}

// describeModel records which model generates the answer to the request of ctx.
func describeModel(ctx context.Context, model string) {
	if s := spans.Of(ctx); s != nil {
		s.Set(spans.Attr("gen_ai.provider.name", provider), spans.Attr("gen_ai.request.model", model))
	}
}

// provider is the value of the attribute gen_ai.provider.name.
const provider = "gopherwarp"

// DescribeEncoder adds the name of the model, the operation and the number of tokens to the request's span.
func DescribeEncoder(ctx context.Context, model, operation string, tokens int) {
	if s := spans.Of(ctx); s != nil {
		s.Set(
			spans.Attr("gen_ai.provider.name", provider), spans.Attr("gen_ai.request.model", model),
			spans.Attr("gen_ai.operation.name", operation), spans.Attr("gen_ai.usage.input_tokens", tokens),
		)
	}
}

// DescribeClassifier adds the name of the model to the request's span.
func DescribeClassifier(ctx context.Context, model string) {
	if s := spans.Of(ctx); s != nil {
		s.Set(spans.Attr("gopherwarp.model", model))
	}
}

// DescribeBatch adds three child spans to the request's span (see package serve/spans): the wait for the device, the wait for other items of the
// batch, and the computation. Use DescribeBatch as batch.Options.Computed.
func DescribeBatch(ctx context.Context, t batch.Times) {
	s := spans.Of(ctx)
	if s == nil {
		return
	}
	items, size := spans.Attr("gopherwarp.batch.items", t.Items), spans.Attr("gopherwarp.batch.size", t.Size)
	s.Add("queue", spans.Interval{Began: t.Arrived, Ended: t.Collected}, nil)
	s.Add("batch", spans.Interval{Began: t.Collected, Ended: t.Began}, nil)
	s.Add("compute", spans.Interval{Began: t.Began, Ended: t.Ended}, t.Err, items, size)
}

// generation records the generation of texts in the span of a request. A nil *generation records nothing.
type generation struct {
	span    *spans.Span
	usage   *llm.Usage
	reasons []string // why the texts ended
}

// newGeneration begins to record an operation, or returns nil if the request has no span. It sets r.Usage if that is nil.
func newGeneration(ctx context.Context, operation string, r *llm.Request) *generation {
	s := spans.Of(ctx)
	if s == nil {
		return nil
	}
	if r.Usage == nil {
		r.Usage = new(llm.Usage)
	}
	s.Set(spans.Attr("gen_ai.operation.name", operation), spans.Attr("gen_ai.request.temperature", r.Temperature))
	if r.MaxTokens > 0 {
		s.Set(spans.Attr("gen_ai.request.max_tokens", r.MaxTokens))
	}
	if r.TopP > 0 {
		s.Set(spans.Attr("gen_ai.request.top_p", r.TopP))
	}
	if r.N > 1 {
		s.Set(spans.Attr("gen_ai.request.choice.count", r.N))
	}
	return &generation{span: s, usage: r.Usage}
}

// token records the end of a text, or the error of all.
func (g *generation) token(t llm.Token, err error) {
	switch {
	case g == nil:
	case fails(err):
		g.span.Fail(err.Error())
	case err == nil && t.Finish != llm.Unfinished:
		g.reasons = append(g.reasons, t.Finish.String())
	}
}

// stages records the times of the texts of a prompt as children of the span. Texts without tokens have none.
func (g *generation) stages(u *llm.Usage) {
	if g == nil || u.Generated == 0 {
		return
	}
	placed, first := u.Arrived.Add(u.Queue), u.Arrived.Add(u.First)
	g.span.Add("queue", spans.Interval{Began: u.Arrived, Ended: placed}, nil)
	g.span.Add("prefill", spans.Interval{Began: placed, Ended: first}, nil,
		spans.Attr("gen_ai.usage.input_tokens", u.Prompt), spans.Attr("gen_ai.usage.cache_read.input_tokens", u.Known))
	g.span.Add("decode", spans.Interval{Began: first, Ended: first.Add(u.Rest)}, nil, spans.Attr("gen_ai.usage.output_tokens", u.Generated))
}

// end records what all texts took.
func (g *generation) end() {
	if g == nil {
		return
	}
	u := *g.usage
	if u.Generated > 0 {
		g.span.Set(
			spans.Attr("gen_ai.usage.input_tokens", u.Prompt), spans.Attr("gen_ai.usage.cache_read.input_tokens", u.Known),
			spans.Attr("gen_ai.usage.output_tokens", u.Generated), spans.Attr("gen_ai.server.time_to_first_token", u.First.Seconds()),
		)
	}
	if len(g.reasons) > 0 {
		g.span.Set(spans.Attr("gen_ai.response.finish_reasons", g.reasons))
	}
}
