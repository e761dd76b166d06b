package gate

import "github.com/gopherwarp/gopherwarp/llm"

// Narrow makes r choose the most probable token if topP, the field top_p of a request, is 0. In all protocols, a top_p of 0
// leaves only the most probable token, but an llm.Request.TopP of 0 means no restriction.
func Narrow(r *llm.Request, topP *float64) {
	if topP != nil && *topP == 0 {
		r.Temperature = 0
	}
}
