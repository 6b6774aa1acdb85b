module sigs.k8s.io/kustomize/api

go 1.26.0

require sigs.k8s.io/kustomize/kyaml v0.21.1
