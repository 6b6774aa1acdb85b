package host

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ran is one test with its results.
type ran struct {
	test    diagTest
	results []gpuResult
}

type gpuResult struct {
	id     int
	status string
	errs   []diagError
}

// diag runs a level's diagnostic and prints JSON (-j) or a table.
func (c *call) diag(version string) int {
	level, ok := c.level()
	if !ok {
		c.errorf("Error: requested a test \"%v\" that doesn't exist\n", c.args)
		return 198
	}
	if c.node.MIG != "" {
		return c.diagOfPartitioned(version)
	}
	done := c.runTests(level)
	switch {
	case !c.has("-j", "--json"):
		c.diagTable(version, done)
	case c.node.DCGMMajor == 3:
		c.writeJSON(c.diagJSON3(version, done))
	default:
		c.writeJSON(c.diagJSON4(version, done))
	}
	return diagExit(done)
}

// diagOfPartitioned prints that the diagnostic does not run on GPUs in MIG mode (NVIDIA/DCGM, issue 94); the documents
// have it as their runtime_error.
func (c *call) diagOfPartitioned(version string) int {
	var lines strings.Builder
	for id := range c.entities() {
		fmt.Fprintf(&lines, "GPU %d's MIG configuration is incompatible with the diagnostic because it prevents access to the entire GPU.\n", id)
	}
	switch {
	case !c.has("-j", "--json"):
		c.printf("%s", lines.String())
	case c.node.DCGMMajor == 3:
		c.writeJSON(object{"DCGM GPU Diagnostic": object{"version": version, "runtime_error": lines.String()}})
	default:
		c.writeJSON(object{"DCGM Diagnostic": object{"runtime_error": lines.String()}, "metadata": object{"version": version}})
	}
	return exitTestFailed
}

func (c *call) runTests(level int) []ran {
	var done []ran
	for _, t := range diagTests() {
		if t.level > level {
			continue
		}
		r := ran{test: t}
		for id, g := range c.entities() {
			status, errs := c.judgeGPU(t.name, id, g)
			r.results = append(r.results, gpuResult{id, status, errs})
		}
		done = append(done, r)
	}
	return done
}

// diagExit is the exit code of the worst result.
func diagExit(done []ran) int {
	exit := 0
	for _, r := range done {
		for _, g := range r.results {
			if g.status != fail {
				continue
			}
			if slices.ContainsFunc(g.errs, func(e diagError) bool { return e.Severity == severityIsolate }) {
				return exitIsolate
			}
			exit = exitTestFailed
		}
	}
	return exit
}

func (c *call) writeJSON(v any) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil { // cannot happen: maps, strings and numbers
		c.errorf("Error: %v\n", err)
		return
	}
	c.printf("%s\n", data)
}

type object map[string]any

// categories groups tests in category order.
func categories(done []ran, order []string, tests func(ran) []object) []object {
	var out []object
	for _, name := range order {
		var list []object
		for _, r := range done {
			if r.test.category == name {
				list = append(list, tests(r)...)
			}
		}
		if len(list) > 0 {
			out = append(out, object{"category": name, "tests": list})
		}
	}
	return out
}

func (c *call) diagJSON4(version string, done []ran) object {
	cats := categories(done, []string{"Deployment", "Hardware", "Integration", "Stress"}, func(r ran) []object {
		var results []object
		var statuses []string
		for _, g := range r.results {
			o := object{"entity_group": "GPU", "entity_group_id": 1, "entity_id": g.id, "status": g.status}
			if len(g.errs) > 0 {
				o["warnings"] = g.errs
			}
			results, statuses = append(results, o), append(statuses, g.status)
		}
		return []object{{"name": r.test.name, "results": results, "test_summary": object{"status": summary(statuses)}}}
	})
	var entities []object
	for id, g := range c.entities() {
		entities = append(entities, object{"device_id": c.node.Hardware.GPU.DeviceID, "entity_id": id, "serial_num": g.Serial})
	}
	return object{
		"DCGM Diagnostic": object{"test_categories": cats},
		"entity_groups":   []object{{"entity_group": "GPU", "entity_group_id": 1, "entities": entities}},
		"metadata":        object{"version": version, "Driver Version Detected": c.node.Driver},
	}
}

func (c *call) diagJSON3(version string, done []ran) object {
	cats := categories(done, []string{"Deployment", "Integration", "Hardware", "Stress"}, func(r ran) []object {
		if r.test.name == "software" {
			return deployment3(r)
		}
		var results []object
		for _, g := range r.results {
			o := object{"gpu_id": strconv.Itoa(g.id), "status": g.status}
			if len(g.errs) > 0 {
				o["warnings"] = g.errs
			}
			results = append(results, o)
		}
		return []object{{"name": r.test.name3[0], "results": results}}
	})
	var ids []string
	serials := object{}
	for id, g := range c.entities() {
		ids = append(ids, c.node.Hardware.GPU.DeviceID)
		serials[strconv.Itoa(id)] = g.Serial
	}
	return object{"DCGM GPU Diagnostic": object{
		"version": version, "Driver Version Detected": c.node.Driver,
		"GPU Device IDs": ids, "GPU Device Serials": serials, "test_categories": cats,
	}}
}

// deployment3 splits the software test into DCGM 3's rows: row errors are on the remap row, a lost
// GPU on the NVML row.
func deployment3(r ran) []object {
	var out []object
	for _, name := range r.test.name3 {
		result := object{"status": pass}
		var errs []diagError
		for _, g := range r.results {
			for _, e := range g.errs {
				if (e.ID == 120) == (name == "NVML Library") && (e.ID == 120 || name == "Page Retirement/Row Remap") {
					errs = append(errs, e)
				}
			}
		}
		if len(errs) > 0 {
			result["status"], result["warnings"] = fail, errs
		}
		out = append(out, object{"name": name, "results": []object{result}})
	}
	return out
}

func (c *call) diagTable(version string, done []ran) {
	const rule = "+---------------------------+------------------------------------------------+\n"
	c.printf("Successfully ran diagnostic for group.\n%s| Diagnostic                | Result                                         |\n", rule)
	c.printf("+===========================+================================================+\n")
	row := func(name, result string) { c.printf("| %-25s | %-46s |\n", name, result) }
	section := func(name string) {
		c.printf("|-----  %-18s--+------------------------------------------------|\n", name+"  "+dashes(16-len(name)))
	}
	section("Metadata")
	row("DCGM Version", version)
	row("Driver Version Detected", c.node.Driver)
	for _, cat := range []string{"Deployment", "Hardware", "Integration", "Stress"} {
		first := true
		for _, r := range done {
			if r.test.category != cat {
				continue
			}
			if first {
				section(cat)
				first = false
			}
			var statuses []string
			for _, g := range r.results {
				statuses = append(statuses, g.status)
			}
			row(title(r.test.name), summary(statuses))
			for _, g := range r.results {
				row("", fmt.Sprintf("%s: GPU%d", g.status, g.id))
				for _, e := range g.errs {
					row(fmt.Sprintf("Warning: GPU%d", g.id), fmt.Sprintf("%.46s", e.Warning))
				}
			}
		}
	}
	c.printf("%s", rule)
}

func dashes(n int) string { return fmt.Sprintf("%.*s", max(0, n), "----------------") }
