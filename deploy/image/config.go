package main

// entrypoint is the program in the image.
const entrypoint = "/usr/bin/gopherwarp"

// nobody is the user and the group of containers, as numbers, so that Kubernetes knows that they are not root.
const nobody = "65532"

// configOf returns how containers run.
func configOf(s system, program []byte) imageConfig {
	c := imageConfig{
		platform: platform{s.arch, "linux"},
		Config: containerConfig{
			User:         nobody + ":" + nobody,
			ExposedPorts: map[string]struct{}{"8080/tcp": {}},
			Env: []string{
				"PATH=/usr/bin", "HOME=/tmp",
				"NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_DRIVER_CAPABILITIES=compute,utility", "CUDA_CACHE_PATH=/tmp/cache",
			},
			Entrypoint: []string{entrypoint},
			WorkingDir: "/",
			Labels: map[string]string{
				"org.opencontainers.image.title":       "gopherwarp",
				"org.opencontainers.image.description": "A server of language models, and GPU computing for Go",
				"org.opencontainers.image.source":      "https://github.com/gopherwarp/gopherwarp",
				"org.opencontainers.image.licenses":    "Apache-2.0",
			},
		},
		RootFS: rootFS{Type: "layers"},
	}
	if commit := revision(program); commit != "" {
		c.Config.Labels["org.opencontainers.image.revision"] = commit
	}
	return c
}

// systemFiles returns the files beside glibc that programs and tools expect. The NVIDIA container toolkit looks for etc/debian_version to
// learn where to mount libraries, and runs ldconfig, which reads etc/ld.so.conf and writes etc/ld.so.cache.
func systemFiles() []file {
	text := func(name, body string) file { return file{name: name, mode: 0o644, body: []byte(body)} }
	return []file{
		text("etc/debian_version", release+"\n"),
		text("etc/group", "root:x:0:\nnonroot:x:"+nobody+":\n"),
		text("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n"),
		text("etc/nsswitch.conf", "hosts: files dns\n"),
		text("etc/os-release", "NAME=\"Debian GNU/Linux\"\nID=debian\nVERSION_ID=\""+release+"\"\n"),
		text("etc/passwd", "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:"+nobody+":"+nobody+":nonroot:/tmp:/sbin/nologin\n"),
		{name: "tmp", mode: 0o1777, folder: true},
	}
}
