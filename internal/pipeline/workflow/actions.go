package workflow

// Actions are the GitHub actions of rendered workflows by their names in templates, each pinned to
// the commit of a release.
func Actions() map[string]string {
	return map[string]string{
		"checkout": "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2",
		"setupGo":  "actions/setup-go@7a3fe6cf4cb3a834922a1244abfce67bcef6a0c5 # v6.2.0",
		"cache":    "actions/cache@cdf6c1fa76f9f475f3d7449005a359c84ca0f306 # v5.0.3",
		"upload":   "actions/upload-artifact@b7c566a772e6b6bfb58ed0dc250532a479d7789f # v6.0.0",
		"download": "actions/download-artifact@37930b1c2abaa49bbe596cd826c3c89aef350131 # v7.0.0",
	}
}
