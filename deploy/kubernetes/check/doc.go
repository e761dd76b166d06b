// Package check has tests of the objects of Kubernetes in the folder above. They decode each object into its type as strictly as the server of
// Kubernetes does with kubectl's -validate=strict, and compare the names by which objects refer to each other:
//
//	cd deploy/kubernetes/check && go test .
//
// The package is a module of its own, so that the module of the repository does not depend on those of Kubernetes. The tests of cmd/gopherwarp
// check the arguments and the environment of the containers.
package check
