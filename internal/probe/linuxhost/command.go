package linuxhost

// The sections of the command's output, each behind a line of its own.
const (
	sectionClock    = "=clock="
	sectionName     = "=name="
	sectionFiles    = "=files="
	sectionTopology = "=topology="
	sectionAfter    = "=after="
)

// script reads; it changes nothing and takes no word from outside. The globs are the
// shell's; what is not there is passed over by grep -s.
const script = "echo " + sectionClock + "; date +%s.%N; echo " + sectionName + "; uname -n; echo " + sectionFiles +
	"; grep -Hs . /proc/meminfo /sys/devices/system/cpu/cpufreq/policy*/scaling_governor" +
	" /sys/class/infiniband/*/device/current_link_* /sys/class/infiniband/*/device/max_link_*" +
	"; echo " + sectionTopology + "; nvidia-smi topo -m; echo " + sectionAfter + "; date +%s.%N"

// Command prints everything that Parse reads.
func Command() []string { return []string{"sh", "-c", script} }
