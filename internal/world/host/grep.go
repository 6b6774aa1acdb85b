package host

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// grep supports four forms: grep -Hsom2 -e WORD... FILE is grepWords; grep -Hs . FILE... prints every non-empty line of files, where FILE may
// be a glob; grep -Hsx TEXT FILE... those that are TEXT; grep -rHvx TEXT DIR... is grepOther.
func grep(c *call) int {
	if c.has("-Hsom2") {
		return grepWords(c)
	}
	if len(c.args) > 2 && c.args[0] == "-rHvx" {
		return grepOther(c)
	}
	var files []string
	pattern := ""
	for _, a := range c.args {
		switch {
		case strings.HasPrefix(a, "-"):
		case pattern == "":
			pattern = a
		default:
			files = append(files, c.glob(a)...)
		}
	}
	wanted := func(line string) bool { return line == pattern }
	if !c.has("-Hsx") {
		wanted = func(line string) bool { return strings.TrimSpace(line) != "" }
	}
	if pattern != "." && !c.has("-Hsx") {
		c.errorf("grep: this host's grep knows the pattern . only\n")
		return 2
	}
	exit := 1
	for _, name := range files {
		text, ok := c.file(name)
		if !ok {
			if !c.has("-s", "-Hs", "-Hsx") {
				c.errorf("grep: %s: No such file or directory\n", name)
			}
			continue
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSuffix(line, "\n"); wanted(line) {
				c.printf("%s:%s\n", name, line)
				exit = 0
			}
		}
	}
	return exit
}

// grepWords prints the words in the first two lines of a file that have one.
func grepWords(c *call) int {
	var words []string
	for i, a := range c.args {
		if a == "-e" && i+1 < len(c.args) {
			words = append(words, c.args[i+1])
		}
	}
	name := c.args[len(c.args)-1]
	text, _ := c.file(name)
	lines := 0
	for line := range strings.Lines(text) {
		found := false
		for word := range strings.FieldsSeq(line) {
			if slices.Contains(words, word) {
				c.printf("%s:%s\n", name, word)
				found = true
			}
		}
		if found {
			lines++
		}
		if lines == 2 {
			break
		}
	}
	if lines == 0 {
		return 1
	}
	return 0
}

// glob returns the files of /sys and /proc that match a pattern, or the pattern itself if none does, as in a
// shell.
func (c *call) glob(pattern string) []string {
	if !strings.Contains(pattern, "*") {
		return []string{pattern}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.sysfs())) {
		if ok, err := path.Match(pattern, name); err == nil && ok {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return []string{pattern}
	}
	return out
}

// sysfs has the files below /sys/devices/system/cpu, the PCIe links of adapters, the attributes of
// Ethernet ports, and the names of processes.
func (c *call) sysfs() map[string]string {
	if c.files == nil {
		c.files = c.readSysfs()
	}
	return c.files
}

func (c *call) readSysfs() map[string]string {
	files := c.efaFiles()
	maps.Copy(files, c.processNames())
	if c.node.Governor != "" {
		for i := range c.node.Hardware.Node.CPUs {
			files[fmt.Sprintf("/sys/devices/system/cpu/cpufreq/policy%d/scaling_governor", i)] = c.node.Governor + "\n"
		}
	}
	most := c.node.Hardware.Fabric
	for i, h := range c.node.HCAs {
		link := c.node.HCALinks[i]
		dir := "/sys/class/infiniband/" + h.Name + "/device/"
		files[dir+"current_link_speed"], files[dir+"max_link_speed"] = gts(link.GTs), gts(most.PCIeGTs)
		files[dir+"current_link_width"], files[dir+"max_link_width"] = strconv.Itoa(link.Width)+"\n", strconv.Itoa(most.PCIeWidth)+"\n"
		if c.node.IOMMU != "" {
			files[dir+"iommu_group/type"] = c.node.IOMMU + "\n"
		}
		for name, text := range roceFiles(c.node, h) {
			files["/sys/class/infiniband/"+h.Name+"/"+name] = text
		}
	}
	for _, g := range c.node.GPUs {
		if c.node.IOMMU != "" && g.Usable() {
			files["/sys/bus/pci/drivers/nvidia/"+strings.ToLower(g.BusID)+"/iommu_group/type"] = c.node.IOMMU + "\n"
		}
	}
	return files
}

func gts(rate float64) string { return fmt.Sprintf("%.1f GT/s PCIe\n", rate) }

// meminfo is a shortened /proc/meminfo. The kernel reserves some memory.
func (c *call) meminfo() string {
	const kernel = 0.016
	total := int(float64(c.node.MemoryGiB) * (1 - kernel) * (1 << 20))
	var b strings.Builder
	row := func(name string, kB int) { fmt.Fprintf(&b, "%-16s%8d kB\n", name+":", kB) }
	count := func(name string, n int) { fmt.Fprintf(&b, "%-16s%8d\n", name+":", n) }
	row("MemTotal", total)
	row("MemFree", total*9/10-2048*c.node.HugePages)
	row("MemAvailable", total*9/10-2048*c.node.HugePages)
	row("SwapTotal", 0)
	count("HugePages_Total", c.node.HugePages)
	count("HugePages_Free", c.node.HugePages)
	count("HugePages_Rsvd", 0)
	count("HugePages_Surp", 0)
	row("Hugepagesize", 2048)
	row("Hugetlb", 2048*c.node.HugePages)
	return b.String()
}
