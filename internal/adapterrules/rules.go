// Package adapterrules are the rules by which prometheus-adapter serves the
// series of dcgm-exporter to autoscalers: data, with the reasons beside it.
//
// The lab's adapter runs with them as they are, and they are meant to be put
// into the adapter of a real cluster.
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

// External is the external metric by which the power rules serve Power.
const External = "dcgm_gpu_power_usage"

// Power is the series of the power rules, in W.
const Power = "DCGM_FI_DEV_POWER_USAGE"

// Render is the adapter's configuration file, with every figure taken over the
// window: whole milliseconds, and more than none.
func Render(window time.Duration) (string, error) {
	if window < time.Millisecond || window%time.Millisecond != 0 {
		return "", fmt.Errorf("render the adapter's rules: the window %s is not one of whole milliseconds", window)
	}
	return strings.ReplaceAll(rules, "${WINDOW}", model.Duration(window).String()), nil
}
