module github.com/gopherwarp/gopherwarp

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/ebitengine/purego v0.11.3
	github.com/google/go-cmp v0.7.0
	golang.org/x/tools v0.52.0
)

tool github.com/gopherwarp/gopherwarp/cmd/gopherwarp
