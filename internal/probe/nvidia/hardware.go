package nvidia

import (
	"regexp"
	"slices"
	"strings"
)

// The kinds of errors that the kernel reports of the host's own hardware and of itself.
const (
	KindMemory    = "memory"    // of the host, not of a GPU
	KindProcessor = "processor" // machine checks, and processors that are too hot
	KindPCIe      = "PCIe"      // of the device of the event
	KindAdapter   = "adapter"   // firmware or driver of a network adapter
	KindDrive     = "drive"     // NVMe controllers, media and file systems
	KindKernel    = "kernel"    // lockups and hung tasks
)

// hardwareLine is a form of lines about the host's hardware. Fatal: the error was not corrected, or the
// device is lost. has is in every such line, so that other lines cost no regular expression. The first
// group is the device, if the line names one.
type hardwareLine struct {
	kind  string
	fatal bool
	has   string
	line  *regexp.Regexp
}

// localDisk is a file system on a drive of the host. Volumes of a cluster, which fail with its network, are
// whole disks of SCSI without partitions (longhorn/longhorn issue 1920), rbd or nbd.
const localDisk = `((?:nvme|md|dm-)\w+|sd[a-z]+\d+)`

// hardwareLines are forms of the Linux kernel: drivers/edac/edac_mc.c, mm/memory-failure.c,
// arch/x86/kernel/cpu/mce/core.c, drivers/edac/mce_amd.c, drivers/pci/pcie/aer.c and dpc.c,
// drivers/net/ethernet/mellanox/mlx5/core/health.c and cmd.c, drivers/infiniband/hw/efa/efa_com.c,
// drivers/nvme/host/pci.c, block/blk-core.c, drivers/md/raid1.c, fs/ext4/super.c, fs/xfs/xfs_fsops.c,
// kernel/watchdog.c, kernel/hung_task.c. Of the adapters, NVIDIA/NVSentinel (syslog-health-monitor, pkg/nicdriver)
// says which are fatal. The driver of GPUs prints no Xid where it refuses a GPU that needs a reset (scitix/sichek
// issue 51). The first that fits counts.
var hardwareLines = []hardwareLine{
	{KindMemory, true, "EDAC MC", regexp.MustCompile(`EDAC (MC\d+): \d+ UE `)},
	{KindMemory, false, "EDAC MC", regexp.MustCompile(`EDAC (MC\d+): \d+ CE `)},
	{KindMemory, true, "Memory failure: 0x", regexp.MustCompile(`Memory failure: 0x[0-9a-f]+: (?:Killing |Sending SIGBUS |recovery action for )`)},
	{KindMemory, true, "Uncorrected hardware memory error", regexp.MustCompile(`Uncorrected hardware memory error`)},
	{KindProcessor, true, "_STATUS[", regexp.MustCompile(`CPU:\d+\s+\([^)]*\) MC\d+_STATUS\[[^\]]*\|(?:UE|Deferred)\|`)},
	{KindProcessor, false, "_STATUS[", regexp.MustCompile(`CPU:\d+\s+\([^)]*\) MC\d+_STATUS\[[^\]]*\|CE\|`)},
	{KindProcessor, false, "emperature ", regexp.MustCompile(`CPU\d+: (?:Core|Package) temperature (?:is )?above threshold`)},
	{KindPCIe, true, "PCIe Bus Error: ", regexp.MustCompile(`\S+ \S+: (?:AER: )?PCIe Bus Error: severity=Uncorrect(?:ed|able) \(Fatal\)`)},
	{KindPCIe, false, "PCIe Bus Error: ", regexp.MustCompile(`\S+ \S+: (?:AER: )?PCIe Bus Error: severity=Uncorrect(?:ed|able) \(Non-Fatal\)`)},
	{KindPCIe, true, "DPC: ", regexp.MustCompile(`\S+ \S+: DPC: .*\bERR_FATAL\b`)},
	{KindAdapter, true, "mlx5_core ", regexp.MustCompile(`mlx5_core \S+: .*(?:health compromised|unrecoverable hardware error|timeout\. Will cause a leak of a command resource|severity\([012]\))`)},
	{KindAdapter, false, "mlx5_core ", regexp.MustCompile(`mlx5_core \S+: .*(?:Health issue observed|TX timeout detected|High temperature|insufficient power on the PCIe slot|Port module event\[error\])`)},
	{KindAdapter, true, "completion for admin cmd", regexp.MustCompile(`(?:efa \S+|infiniband (?:rdmap|efa_)\S*): .*send any completion for admin cmd`)},
	{KindAdapter, true, "Admin queue is closed", regexp.MustCompile(`(?:efa \S+|infiniband (?:rdmap|efa_)\S*): .*Admin queue is closed`)},
	{KindDrive, true, "nvme nvme", regexp.MustCompile(`nvme (nvme\d+): (?:Device not ready; aborting|Removing after probe failure|Disabling device after reset failure)`)},
	{KindDrive, false, "nvme nvme", regexp.MustCompile(`nvme (nvme\d+): (?:controller is down|I/O .*timeout)`)},
	{KindDrive, true, "medium error, dev ", regexp.MustCompile(`critical medium error, dev (nvme\w+)`)},
	{KindDrive, true, "Disk failure on ", regexp.MustCompile(`md/raid\w*:\w+: Disk failure on (nvme\w+|sd\w+)`)},
	{KindDrive, true, "EXT4-fs (", regexp.MustCompile(`EXT4-fs \(` + localDisk + `\): Remounting filesystem read-only`)},
	{KindDrive, true, "XFS (", regexp.MustCompile(`XFS \(` + localDisk + `\): .*(?:Shutting down filesystem|Filesystem has been shut down)`)},
	{KindDriver, true, "[NV_ERR_RESET_REQUIRED]", regexp.MustCompile(`NVRM: .*\[NV_ERR_RESET_REQUIRED\].*`)},
	{KindDriver, true, "GPU marked for reset", regexp.MustCompile(`NVRM: .*GPU marked for reset.*`)},
	{KindKernel, false, "lockup - CPU#", regexp.MustCompile(`BUG: soft lockup - CPU#\d+ stuck`)},
	{KindKernel, false, "hard LOCKUP", regexp.MustCompile(`Watchdog detected hard LOCKUP`)},
	{KindKernel, false, " blocked for more than ", regexp.MustCompile(`INFO: task \S+ blocked for more than \d+ seconds`)},
}

var (
	// machineCheck has the status register of a bank, in hexadecimal.
	machineCheck = regexp.MustCompile(`CPU \d+: Machine Check(?: Exception| Event)?: \S+ Bank \d+: ([0-9a-f]{16})\b`)
	// Errors that firmware reports (ACPI, drivers/firmware/efi/cper.c): severity, then section, of each error.
	cperSeverity = regexp.MustCompile(`\[Hardware Error\]:\s+(?:event severity|Error \d+, type): (\w+)`)
	cperSection  = regexp.MustCompile(`\[Hardware Error\]:\s+section[_ ]type: (.+?)\s*$`)
)

// uncorrected is the hexadecimal digit that has bit 61 (UC) of a bank's status: bits 60 to 63.
const uncorrected = "2367abef"

// hardware adds an error of the host's hardware.
func (r *xidReader) hardware(line string) {
	if strings.Contains(line, "[Hardware Error]") || strings.Contains(line, "Machine Check") {
		r.reported(line)
	}
	for _, h := range hardwareLines {
		if !strings.Contains(line, h.has) {
			continue
		}
		m := h.line.FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		e := XidEvent{Kind: h.kind, Fatal: h.fatal, Text: clip(line[m[0]:], maxText)}
		if len(m) > 2 {
			e.Device = line[m[2]:m[3]]
		}
		if found := bus.FindString(e.Text); found != "" {
			e.PCI, _ = address(found[:len(found)-len(".0")]) // the expression fits
		}
		r.host.add(e, stamp(line))
		return
	}
}

// crashDump are the names of the section with a dump of a crash: older kernels print its number (linux-acpi@vger.kernel.org,
// "efi: cper: Add support for printing Firmware Error Record Reference").
var crashDump = []string{"Firmware Error Record Reference", "unknown, 81212a96-09ed-4996-9471-8d729c8e69ed"}

// reported adds a machine check, or an error that firmware reports. A PCIe error that firmware reports is not
// fatal: drivers cause them when they reset a device (netdev@vger.kernel.org, drivers tg3 and ice). A dump of a crash
// does not say what crashed. In sections that the kernel does not know, firmware also reports plain events, but
// not as fatal.
func (r *xidReader) reported(line string) {
	if m := machineCheck.FindStringSubmatchIndex(line); m != nil {
		bad := strings.Contains(uncorrected, line[m[2]:m[2]+1])
		r.host.add(XidEvent{Kind: KindProcessor, Fatal: bad, Text: clip(line[m[0]:], maxText)}, stamp(line))
		return
	}
	if m := cperSeverity.FindStringSubmatch(line); m != nil {
		r.severity = m[1]
		return
	}
	m := cperSection.FindStringSubmatch(line)
	if m == nil {
		return
	}
	e := XidEvent{Fatal: r.severity == "recoverable" || r.severity == "fatal", Text: clip("firmware reports a "+r.severity+" "+m[1], maxText)}
	switch {
	case m[1] == "memory error":
		e.Kind = KindMemory
	case strings.HasSuffix(m[1], "processor error"): // ARM, IA32/X64, general
		e.Kind = KindProcessor
	case m[1] == "PCIe error" && e.Fatal:
		e.Kind, e.Fatal = KindPCIe, false
	case slices.Contains(crashDump, m[1]) && e.Fatal:
		e.Kind, e.Fatal, e.Text = KindProcessor, false, "firmware reports a dump of a crash"
	case r.severity == "fatal":
		e.Kind, e.Text = KindProcessor, clip("firmware reports a fatal error of section "+strings.TrimPrefix(m[1], "unknown, "), maxText)
	default:
		return
	}
	r.host.add(e, stamp(line))
}
