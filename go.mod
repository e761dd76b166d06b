module github.com/gopherwarp/gopherwarp

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0 // indirect
	github.com/ebitengine/purego v0.11.3 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)
