package autoscale

import (
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/seen"
)

// Cost is one setting that costs time in a hop.
type Cost struct {
	Setting string
	// Why it costs the hop time, at worst its whole value.
	Why string
}

// costs of the hops: a hop's budget is the sum of its settings' values, the
// worst case. A hop without a row costs no more than the work itself: an image
// pull, a container's start, an API call.
var costs = map[string][]Cost{
	seen.HopSeries: {
		{seen.SettingScrape, "a series is as old as the last scrape"},
	},
	seen.HopPlaced: {
		{seen.SettingBatchMax, "Karpenter gathers pending pods before it makes a node"},
		{seen.SettingRegistration, "the first replica's node has to boot"},
	},
	seen.HopServed: {
		{seen.SettingSample, "the exporter has to see the holder on its GPU"},
		{seen.SettingScrape, "Prometheus has to read it"},
		{seen.SettingRelist, "the adapter lists new series only so often"},
	},
	seen.HopFlat: {
		{settingWindow, "the control window is as long as it is asked for"},
	},
	seen.HopExporter: {
		{seen.SettingSample, "the load may begin just after a sample"},
	},
	seen.HopPrometheus: {
		{seen.SettingScrape, "the sample may come just after a scrape"},
		{seen.SettingWindow, "an average reaches the new value only when the window is full of it"},
	},
	seen.HopMetricsAPI: {
		{seen.SettingRelist, "the load's series are new to the adapter, where it filters by series; else it answers at once"},
	},
	seen.HopHPA: {
		{seen.SettingHPASync, "the HPA may have looked just before"},
	},
	seen.HopNodeClaim: {
		{seen.SettingBatchMax, "Karpenter gathers pending pods, at least for the idle and at most for the maximum duration"},
	},
	seen.HopRegistered: {
		{seen.SettingRegistration, "the instance has to boot and join"},
	},
	seen.HopMetricFalls: {
		{seen.SettingSample, "the load may end just after a sample"},
		{seen.SettingScrape, "the sample may come just after a scrape"},
		{seen.SettingWindow, "an average falls only when the window has forgotten the load"},
		{seen.SettingRelist, "the adapter may still know the load's series"},
	},
	seen.HopHPADown: {
		{seen.SettingStabilization, "the HPA takes the highest recommendation of this window"},
		{seen.SettingHPASync, "the HPA may have looked just before"},
	},
	seen.HopNodesGone: {
		{seen.SettingConsolidate, "a node must have been quiet for so long"},
		{seen.SettingDisruption, "Karpenter looks for nodes to remove only so often"},
		{seen.SettingValidation, "Karpenter looks again after this time before it removes"},
		{seen.SettingTermination, "drain the node, delete the instance"},
	},
	seen.HopGangBound: {
		{seen.SettingBatchMax, "Karpenter gathers pending pods before it makes nodes"},
		{seen.SettingRegistration, "the gang's nodes have to boot"},
	},
	seen.HopGangNone: {
		{settingWindow, "it is watched as long as the control window"},
	},
}

// settingWindow is the chain's own: how long nothing may happen.
const settingWindow = "window"

// Costs are the settings that cost a hop time; none for most of them.
func Costs(hop string) []Cost { return slices.Clone(costs[hop]) }

// valueOf finds a setting's value, also that of the chain's own.
func valueOf(name string, s seen.Setup) seen.Setting {
	if name == settingWindow {
		return seen.Setting{Name: settingWindow, Value: s.Window, Source: "site autoscale.window"}
	}
	return s.Setting(name)
}

// budgetOf is the worst case of a hop's settings; 0 where none bears on it.
func budgetOf(hop string, s seen.Setup) time.Duration {
	var sum time.Duration
	for _, c := range costs[hop] {
		sum += max(0, valueOf(c.Setting, s).Value)
	}
	return sum
}

// slowest is the setting that makes a phase slow: of all that cost its hops
// time, the one with the largest sum. The name is empty when there is none.
func slowest(phase string, s seen.Setup) (setting seen.Setting, hops []string) {
	var best time.Duration
	for _, name := range settingsOf(phase) {
		v := valueOf(name, s)
		on := hopsOf(phase, name)
		if sum := v.Value * time.Duration(len(on)); sum > best {
			best, setting, hops = sum, v, on
		}
	}
	return setting, hops
}

func settingsOf(phase string) []string {
	var out []string
	for _, p := range seen.Chain() {
		if p.Name != phase {
			continue
		}
		for _, hop := range p.Hops {
			for _, c := range costs[hop] {
				if !slices.Contains(out, c.Setting) {
					out = append(out, c.Setting)
				}
			}
		}
	}
	return out
}

func hopsOf(phase, setting string) []string {
	var out []string
	for _, p := range seen.Chain() {
		if p.Name != phase {
			continue
		}
		for _, hop := range p.Hops {
			if slices.ContainsFunc(costs[hop], func(c Cost) bool { return c.Setting == setting }) {
				out = append(out, hop)
			}
		}
	}
	return out
}
