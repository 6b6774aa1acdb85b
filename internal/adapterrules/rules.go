// Package adapterrules holds the prometheus-adapter rules that serve the series of
// dcgm-exporter to autoscalers. rules.yaml explains each rule.
//
// The lab's adapter uses them unchanged; install them in the adapter of a real cluster.
package adapterrules

import (
	"fmt"
	"strings"
	"time"

	_ "embed" // the rules

	"github.com/prometheus/common/model"
)

//go:embed rules.yaml
var rules string

// DefaultWindow suits a scrape interval of 15 to 60 seconds.
const DefaultWindow = 2 * time.Minute

// External is the external metric of Power.
const External = "dcgm_gpu_power_usage"

// Power is the series of the power rules, in W.
const Power = "DCGM_FI_DEV_POWER_USAGE"

// Render returns the adapter's configuration file for a window: a positive number of whole
// milliseconds.
func Render(window time.Duration) (string, error) {
	if window < time.Millisecond || window%time.Millisecond != 0 {
		return "", fmt.Errorf("invalid window %s: must be a positive number of whole milliseconds", window)
	}
	return strings.ReplaceAll(rules, "${WINDOW}", model.Duration(window).String()), nil
}
