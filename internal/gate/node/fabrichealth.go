package node

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// healthyFabric are the values of a healthy NVLink fabric (nvidia-smi -q -x, fabric/health).
var healthyFabric = map[string]string{
	"summary": "Healthy", "bandwidth": "Full", "route_recovery_in_progress": "False",
	"route_unhealthy": "False", "access_timeout_recovery": "False", "incorrect_configuration": "None",
}

// badWord matches a bad value of an element that a newer driver adds.
var badWord = regexp.MustCompile(`(?i)unhealthy|degraded|fail|limited`)

// unhealthy lists the bad elements of a GPU's NVLink fabric; "" if it is healthy or not
// reported.
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
