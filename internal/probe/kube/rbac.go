package kube

import _ "embed"

//go:embed rbac.yaml
var rbac []byte

// RBAC is the ClusterRole that firstlight needs, as YAML with the reasons.
func RBAC() []byte { return append([]byte(nil), rbac...) }
