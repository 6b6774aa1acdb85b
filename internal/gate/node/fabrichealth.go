package node

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// healthyFabric are the values of a healthy NVLink fabric (nvidia-smi -q -x, fabric/health). The last two
// are of driver 615 on NVL72 (NVIDIA/k8s-test-infra, testdata/hardware/qx-vrnvl72.xml).
var healthyFabric = map[string]string{
	"summary": "Healthy", "bandwidth": "Full", "route_recovery_in_progress": "False",
	"route_unhealthy": "False", "access_timeout_recovery": "False", "incorrect_configuration": "None",
	"partition_assigned": "True", "gfm_state": "Connected",
}

// badWord matches a bad value of an element that a newer driver adds.
var badWord = regexp.MustCompile(`(?i)unhealthy|degraded|fail|limited|disconnect|in(valid|sufficient|correct|compatible)|error`)

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

// unknownHealth lists the elements that are neither known nor bad; empty if all are known or bad.
func unknownHealth(health map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(health)) {
		if _, known := healthyFabric[name]; !known && !badWord.MatchString(health[name]) {
			out = append(out, name+" "+health[name])
		}
	}
	return strings.Join(out, ", ")
}
