package nvidia

import "encoding/xml"

// smiDocument is the XML with all values as text.
type smiDocument struct {
	Driver   string   `xml:"driver_version"`
	CUDA     string   `xml:"cuda_version"`
	KMD      string   `xml:"kmd_version"`      // replaces driver_version from driver 615 on
	CUDAUMD  string   `xml:"cuda_umd_version"` // replaces cuda_version
	Attached string   `xml:"attached_gpus"`
	GPUs     []rawGPU `xml:"gpu"`
}

type rawGPU struct {
	rawMIG
	ID       string `xml:"id,attr"`
	Product  string `xml:"product_name"`
	Serial   string `xml:"serial"`
	UUID     string `xml:"uuid"`
	VBIOS    string `xml:"vbios_version"`
	Recovery string `xml:"gpu_recovery_action"`
	Reset    struct {
		Required string `xml:"reset_required"`
		Drain    string `xml:"drain_and_reset_recommended"`
	} `xml:"gpu_reset_status"` // before gpu_recovery_action
	PCI struct {
		BusID    string `xml:"pci_bus_id"`
		MaxGen   string `xml:"pci_gpu_link_info>pcie_gen>max_link_gen"`
		Width    string `xml:"pci_gpu_link_info>link_widths>current_link_width"`
		MaxWidth string `xml:"pci_gpu_link_info>link_widths>max_link_width"`
	} `xml:"pci"`
	EventReasons    named  `xml:"clocks_event_reasons"`
	ThrottleReasons named  `xml:"clocks_throttle_reasons"` // v11
	EventCounters   named  `xml:"clocks_event_reasons_counters"`
	Memory          string `xml:"fb_memory_usage>total"`
	ECCMode         string `xml:"ecc_mode>current_ecc"`
	ECCPending      string `xml:"ecc_mode>pending_ecc"`
	ECC             struct {
		Volatile  rawErrors `xml:"volatile"`
		Aggregate rawErrors `xml:"aggregate"`
		Channel   string    `xml:"channel_repair_pending"`
		TPC       string    `xml:"tpc_repair_pending"`
		NoRepair  string    `xml:"unrepairable_memory"`
	} `xml:"ecc_errors"`
	Remap struct {
		Text    string `xml:",chardata"`
		Corr    string `xml:"remapped_row_corr"`
		Unc     string `xml:"remapped_row_unc"`
		Pending string `xml:"remapped_row_pending"`
		Failure string `xml:"remapped_row_failure"`
	} `xml:"remapped_rows"`
	BankRemap string `xml:"remapped_banks>bank_remapper_pending"`
	Retired   struct {
		Blacklist string `xml:"pending_blacklist"`
		Pending   string `xml:"pending_retirement"`
	} `xml:"retired_pages"`
	License     string   `xml:"vgpu_software_licensed_product>license_status"`
	Temperature string   `xml:"temperature>gpu_temp"`
	Power       rawPower `xml:"gpu_power_readings"`
	OldPower    rawPower `xml:"power_readings"` // v11
	SMClock     string   `xml:"clocks>sm_clock"`
	MaxSMClock  string   `xml:"max_clocks>sm_clock"`
	AppClock    string   `xml:"applications_clocks>graphics_clock"`
	DefaultApp  string   `xml:"default_applications_clocks>graphics_clock"`
	Processes   []struct {
		PID  string `xml:"pid"`
		Type string `xml:"type"` // C, G, M+C, C+G
		Name string `xml:"process_name"`
	} `xml:"processes>process_info"`
	Fabric struct {
		State   string `xml:"state"`
		Status  string `xml:"status"`
		Clique  string `xml:"cliqueId"`
		Cluster string `xml:"clusterUuid"`
		Health  named  `xml:"health"`
	} `xml:"fabric"`
}

type rawErrors struct {
	SRAMCorr   string `xml:"sram_correctable"`
	SRAMUnc    string `xml:"sram_uncorrectable"`        // v11, v12
	SRAMParity string `xml:"sram_uncorrectable_parity"` // v13
	SRAMSecded string `xml:"sram_uncorrectable_secded"` // v13
	DRAMCorr   string `xml:"dram_correctable"`
	DRAMUnc    string `xml:"dram_uncorrectable"`
	Threshold  string `xml:"sram_threshold_exceeded"`
}

type rawPower struct {
	Draw     string `xml:"power_draw"`
	Average  string `xml:"average_power_draw"`
	Instant  string `xml:"instant_power_draw"`
	Limit    string `xml:"current_power_limit"`
	OldLimit string `xml:"power_limit"` // v11
	Default  string `xml:"default_power_limit"`
}

// named are the child elements of an element, by name.
type named struct {
	Items []struct {
		XMLName xml.Name
		Text    string `xml:",chardata"`
	} `xml:",any"`
}
