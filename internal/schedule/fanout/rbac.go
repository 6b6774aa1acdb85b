package fanout

import _ "embed"

//go:embed rbac.yaml
var rbac []byte

// RBAC is the ClusterRole that whoever runs this needs, as YAML with the reasons.
func RBAC() []byte { return append([]byte(nil), rbac...) }
