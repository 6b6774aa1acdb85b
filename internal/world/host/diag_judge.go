package host

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/world"
)

// DCGM's results and severities (dcgm_errors.h).
const (
	pass = "Pass"
	fail = "Fail"
	skip = "Skip"

	severityMonitor = 1
	severityIsolate = 2
	severityTriage  = 4
	severityConfig  = 5
	severityReset   = 6
)

// diagError is one error of a diagnostic.
type diagError struct {
	ID       int    `json:"error_id"`
	Category int    `json:"error_category"`
	Severity int    `json:"error_severity"`
	Warning  string `json:"warning"`
}

// diagTest is one test of a level with its names in DCGM 4 and 3.
type diagTest struct {
	name     string
	name3    []string // DCGM 3 splits "software"
	category string
	level    int
}

func diagTests() []diagTest {
	return []diagTest{
		{"software", []string{
			"Denylist", "NVML Library", "CUDA Main Library", "Permissions and OS Blocks", "Persistence Mode",
			"Environment Variables", "Page Retirement/Row Remap", "Graphics Processes", "Inforom",
		}, "Deployment", 1},
		{"pcie", []string{"PCIe"}, "Integration", 2},
		{"memory", []string{"GPU Memory"}, "Hardware", 2},
		{"diagnostic", []string{"Diagnostic"}, "Hardware", 3},
		{"targeted_stress", []string{"Targeted Stress"}, "Stress", 3},
		{"targeted_power", []string{"Targeted Power"}, "Stress", 3},
		{"memory_bandwidth", []string{"Memory Bandwidth"}, "Stress", 3},
		{"memtest", []string{"Memtest"}, "Stress", 4},
		{"pulse_test", []string{"Pulse Test"}, "Hardware", 4},
	}
}

// judgeGPU is a test's result for one GPU.
func (c *call) judgeGPU(test string, id int, g world.GPU) (status string, errs []diagError) {
	if g.Lost {
		if test == "software" {
			return fail, []diagError{{120, 15, severityIsolate, fmt.Sprintf("GPU %d has fallen off the bus", id)}}
		}
		return skip, nil
	}
	if g.Remap.Pending || g.Remap.Failure {
		if test != "software" {
			return skip, nil // DCGM skips a GPU with a pending reset
		}
		if g.Remap.Failure {
			return fail, []diagError{{80, 10, severityReset, fmt.Sprintf("GPU %d had uncorrectable memory errors and row remapping failed.", id)}}
		}
		return fail, []diagError{{85, 10, severityReset, fmt.Sprintf("GPU %d had memory errors and row remappings are pending", id)}}
	}
	switch test {
	case "pcie":
		errs = append(c.nvlinkErrors(id, g), c.linkGeneration(id, g)...)
	case "memory", "memory_bandwidth":
		if n := g.Volatile.DRAMUncorrectable + g.Volatile.SRAMUncorrectable; n > 0 {
			errs = append(errs, diagError{4, 10, severityIsolate, fmt.Sprintf("Detected %d volatile double-bit ECC error(s) in GPU %d.", n, id)})
		}
	case "diagnostic", "sm_stress", "targeted_stress", "targeted_power":
		if g.Reasons.HWThermal {
			errs = append(errs, diagError{40, 9, severityMonitor, fmt.Sprintf("There were thermal violations totaling %.1f seconds for GPU %d", g.HWThermal.Seconds(), id)})
		}
	}
	if len(errs) > 0 {
		return fail, errs
	}
	if test == "targeted_power" {
		return c.targetedPower(id, g)
	}
	return pass, nil
}

// targetedPower does not run if a GPU's power limit is below the target.
func (c *call) targetedPower(id int, g world.GPU) (string, []diagError) {
	target := c.node.Hardware.GPU.TDPWatts
	if g.PowerLimit < target {
		return skip, []diagError{{72, 14, severityConfig, fmt.Sprintf("Enforced power limit on GPU %d set to %.1f, which is too low to attempt to achieve target power %.1f", id, g.PowerLimit, target)}}
	}
	for _, o := range c.entities() {
		if o.Usable() && o.PowerLimit < target {
			return skip, nil
		}
	}
	return pass, nil
}

func (c *call) nvlinkErrors(id int, g world.GPU) []diagError {
	var errs []diagError
	for l, up := range g.NVLinkUp {
		if !up {
			errs = append(errs, diagError{14, 11, severityTriage, fmt.Sprintf("GPU %d's NvLink link %d is currently down", id, l)})
		}
	}
	return errs
}

// minGeneration is DCGM's default minimum for a data centre GPU's PCIe link (diag-skus.yaml).
const minGeneration = 3

// linkGeneration compares the link generation under load with the parameter.
func (c *call) linkGeneration(id int, g world.GPU) []diagError {
	least := minGeneration
	if text, ok := c.parameter("pcie.h2d_d2h_single_pinned.min_pci_generation"); ok {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil
		}
		least = int(n)
	}
	if g.PCIeGen >= least {
		return nil
	}
	return []diagError{{45, 13, severityTriage, fmt.Sprintf(
		"GPU %d is running at PCI link generation %d, which is below the minimum allowed link generation of %d (parameter 'min_pci_generation')", id, g.PCIeGen, least)}}
}

// parameter parses "-p test.parameter=value;...".
func (c *call) parameter(name string) (string, bool) {
	all, _ := c.option("--parameters")
	if short, ok := c.option("-p"); ok {
		all = short
	}
	for p := range strings.SplitSeq(all, ";") {
		if value, ok := strings.CutPrefix(p, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// summary combines the GPUs' results.
func summary(statuses []string) string {
	out := skip
	for _, s := range statuses {
		switch s {
		case fail:
			return fail
		case pass:
			out = pass
		}
	}
	return out
}

// title is a DCGM 4 test's name in the table.
func title(name string) string {
	if name == "pcie" {
		return "PCIe"
	}
	words := strings.Split(name, "_")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}
