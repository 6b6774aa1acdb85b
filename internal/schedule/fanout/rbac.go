package fanout

import _ "embed"

//go:embed rbac.yaml
var rbac []byte

// RBAC returns the ClusterRole that the caller of Run needs, as commented YAML.
func RBAC() []byte { return append([]byte(nil), rbac...) }
