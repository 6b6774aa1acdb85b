package node

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// healthyFabric is what the driver says of each part of a healthy NVLink fabric
// (nvidia-smi -q -x, fabric/health).
var healthyFabric = map[string]string{
	"summary": "Healthy", "bandwidth": "Full", "route_recovery_in_progress": "False",
	"route_unhealthy": "False", "access_timeout_recovery": "False", "incorrect_configuration": "None",
}

// badWord is how an element that a newer driver adds says that it is bad.
var badWord = regexp.MustCompile(`(?i)unhealthy|degraded|fail|limited`)

// unhealthy lists what is wrong with a GPU's NVLink fabric; empty when nothing
// is, or the driver says nothing.
func unhealthy(health map[string]string) string {
	var bad []string
	for _, name := range slices.Sorted(maps.Keys(health)) {
		want, known := healthyFabric[name]
		if known && !strings.EqualFold(health[name], want) || !known && badWord.MatchString(health[name]) {
			bad = append(bad, name+" "+health[name])
		}
	}
	return strings.Join(bad, ", ")
}
