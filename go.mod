module github.com/gopherwarp/gopherwarp

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/ebitengine/purego v0.11.3
	github.com/google/go-cmp v0.7.0
	github.com/google/pprof v0.0.0-20260906184651-6331bc6350fe
	golang.org/x/tools v0.52.0
)

tool github.com/gopherwarp/gopherwarp/cmd/gopherwarp
