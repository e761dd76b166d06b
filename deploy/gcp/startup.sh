#!/bin/sh
# Runs as root at each start of a machine that create.sh made, with Debian 12 on amd64: installs the NVIDIA driver, Docker and
# nvidia-container-toolkit, and starts the server. Steps that are done already are left out. rehearse.sh runs the script on another machine.
# ROOT is a folder to use instead of / for the files that the script writes, for tests.
set -eu
export DEBIAN_FRONTEND=noninteractive
ROOT=${ROOT:-}

step() {
	echo "startup.sh: $*"
}

metadata() {
	curl -fsS -H 'Metadata-Flavor: Google' "http://metadata.google.internal/computeMetadata/v1/instance/$1"
}

# packages runs apt-get. At the first start, other programs may use apt too, such as unattended-upgrades.
packages() {
	tries=0
	until apt-get -y -o DPkg::Lock::Timeout=600 "$@"; do
		tries=$((tries + 1))
		[ "$tries" -lt 5 ] || return 1
		sleep 10
	done
}

# repository NAME KEY SOURCE adds a repository of packages, whose key is at a URL.
repository() {
	list=$ROOT/etc/apt/sources.list.d/$1.list
	if [ ! -e "$list" ]; then
		step "adding the repository $1"
		curl -fsSL -o "$ROOT/etc/apt/keyrings/$1.asc" "$2"
		echo "deb [signed-by=/etc/apt/keyrings/$1.asc] $3" >"$list"
	fi
}

# headers installs the headers of the kernel, for which the driver's module is compiled. Debian removes the packages of old kernels, and then
# the machine needs the newest kernel.
headers() {
	kernel=$(uname -r)
	if apt-cache show "linux-headers-$kernel" >/dev/null 2>&1; then
		packages install "linux-headers-$kernel" linux-headers-cloud-amd64
		return
	fi
	if [ -e "$ROOT/etc/gopherwarp/rebooted" ]; then
		step "Debian has no headers of the kernel $kernel" >&2
		exit 1
	fi
	step "Debian has no headers of the kernel $kernel: installing the newest kernel and rebooting"
	packages install linux-image-cloud-amd64 linux-headers-cloud-amd64
	touch "$ROOT/etc/gopherwarp/rebooted"
	reboot
	exit 0
}

if ! command -v curl >/dev/null; then
	step "installing curl"
	packages update
	packages install ca-certificates curl
fi
image=$(metadata attributes/gopherwarp-image)
model=$(metadata attributes/gopherwarp-model)
mkdir -p "$ROOT/etc/apt/keyrings" "$ROOT/etc/apt/sources.list.d" "$ROOT/etc/gopherwarp" "$ROOT/srv/models"

if [ ! -e "$ROOT/etc/gopherwarp/installed" ]; then
	step "installing packages"
	for file in "$ROOT/etc/apt/sources.list" "$ROOT/etc/apt/sources.list.d/debian.sources"; do
		# NVIDIA's packages depend on packages of contrib.
		[ ! -e "$file" ] || sed -i -E '/contrib/!s/^(deb .*|Components:.*)\bmain\b/\1main contrib/' "$file"
	done
	packages update
	packages install ca-certificates
	headers
	nvidia=https://developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64
	repository nvidia "$nvidia/3bf863cc.pub" "$nvidia/ /"
	repository docker https://download.docker.com/linux/debian/gpg "https://download.docker.com/linux/debian bookworm stable"
	repository nvidia-container-toolkit https://nvidia.github.io/libnvidia-container/gpgkey \
		"https://nvidia.github.io/libnvidia-container/stable/deb/amd64 /"
	packages update
	packages install cuda-drivers
	packages install docker-ce docker-ce-cli containerd.io
	packages install nvidia-container-toolkit
	nvidia-ctk runtime configure --runtime=docker
	systemctl enable docker
	systemctl restart docker
	touch "$ROOT/etc/gopherwarp/installed"
fi
modprobe nvidia-uvm
nvidia-smi -L || {
	step "the driver finds no GPU" >&2
	exit 1
}

keys=$ROOT/etc/gopherwarp/keys
if [ ! -s "$keys" ]; then
	step "making an API key"
	(umask 077 && head -c 32 /dev/urandom | base64 >"$keys")
	chown 65532 "$keys" # the user in the container
fi

file=$ROOT/srv/models/${model##*/}
if [ ! -e "$file" ]; then
	step "downloading $model"
	curl -fsSL -o "$file.part" "$model"
	mv "$file.part" "$file"
fi

case $image in
*-docker.pkg.dev/*)
	step "logging in to ${image%%/*}"
	metadata service-accounts/default/token | sed 's/.*"access_token": *"\([^"]*\)".*/\1/' |
		docker login -u oauth2accesstoken --password-stdin "https://${image%%/*}"
	;;
esac
step "starting $image"
docker pull "$image"
docker rm -f gopherwarp >/dev/null 2>&1 || true # of the last start
# Only the machine itself can connect; clients use a tunnel, or a proxy with TLS.
docker run -d --name gopherwarp --restart unless-stopped --stop-timeout 45 --gpus all --read-only --tmpfs /tmp:mode=1777 \
	-p 127.0.0.1:8080:8080 -v /srv/models:/models:ro -v /etc/gopherwarp/keys:/keys:ro -e GOPHERWARP_DEVICE=cuda \
	"$image" serve -listen :8080 -model "/models/${model##*/}" -key-file /keys -drain 30s
step "the server is at http://localhost:8080"
