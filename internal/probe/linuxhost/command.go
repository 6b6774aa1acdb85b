package linuxhost

// The section headers in the output of the command.
const (
	sectionClock    = "=clock="
	sectionName     = "=name="
	sectionFiles    = "=files="
	sectionTopology = "=topology="
	sectionAfter    = "=after="
)

// gpuDevices has a directory for each PCI device that the GPU driver uses, by its bus ID.
const gpuDevices = "/sys/bus/pci/drivers/nvidia/"

// hypervisor is a flag of the processors of a virtual machine, on x86.
const hypervisor = "hypervisor"

// script reads only and has no parameters. The shell expands the globs; grep -s ignores
// missing files.
const script = "echo " + sectionClock + "; date +%s.%N; echo " + sectionName + "; uname -n; echo " + sectionFiles +
	"; grep -Hs . /proc/meminfo /sys/devices/system/cpu/cpufreq/policy*/scaling_governor" +
	" /sys/class/infiniband/*/device/current_link_* /sys/class/infiniband/*/device/max_link_*" +
	" /sys/class/infiniband/*/device/iommu_group/type " + gpuDevices + "*/iommu_group/type" +
	"; grep -Hsom2 -e GenuineIntel -e AuthenticAMD -e " + hypervisor + " /proc/cpuinfo" +
	"; echo " + sectionTopology + "; nvidia-smi topo -m; echo " + sectionAfter + "; date +%s.%N"

// Command is the command whose output Parse parses.
func Command() []string { return []string{"sh", "-c", script} }
