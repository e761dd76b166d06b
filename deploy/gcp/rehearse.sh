#!/bin/sh
# Runs startup.sh twice in a bare Debian 12, on a machine without a GPU: as at the first and at the second start of a machine of Google Cloud.
#
#   sh deploy/gcp/rehearse.sh /tmp/rehearsal                                # an empty folder
#   KERNEL=6.1.0-1-cloud-amd64 sh deploy/gcp/rehearse.sh /tmp/rehearsal     # with a kernel of which Debian has no headers any more
#
# Needs root, Debian's archive, and the packages mmdebstrap, dpkg-dev, gpg, openssl and python3. Debian's packages, apt, curl and TLS are real.
# A server on this machine has the metadata, the model, and the repositories of NVIDIA and Docker. The packages of these repositories contain only
# fakes of the commands that the script runs, but the driver depends on the packages of Debian that NVIDIA's driver needs. uname, modprobe,
# systemctl and reboot are fakes too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=${1:?is an empty folder for the Debian}
root=$work/root
mkdir -p "$work/www" "$work/keys"
chmod 700 "$work/keys"
export GNUPGHOME=$work/keys

mmdebstrap --quiet --variant=minbase bookworm "$root" http://deb.debian.org/debian

# An authority for the server's certificate, which the package ca-certificates finds when it is installed.
hosts="developer.download.nvidia.com download.docker.com nvidia.github.io models.example"
names=$(for name in $hosts; do printf 'DNS:%s,' "$name"; done)
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=rehearsal -addext "subjectAltName=${names%,}" \
	-keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
mkdir -p "$root/usr/local/share/ca-certificates"
cp "$work/cert.pem" "$root/usr/local/share/ca-certificates/rehearsal.crt"
cp /etc/resolv.conf "$root/etc/resolv.conf"
printf '127.0.0.1 localhost\n' >"$root/etc/hosts"
for name in metadata.google.internal $hosts; do
	echo "127.0.0.2 $name" >>"$root/etc/hosts"
done

# package FOLDER NAME DEPENDS COMMANDS makes a package with commands that only print what they were called with.
package() {
	rm -rf "$work/package"
	mkdir -p "$work/package/DEBIAN" "$work/package/usr/bin" "$1"
	printf 'Package: %s\nVersion: 1\nArchitecture: amd64\nMaintainer: rehearsal\nDepends: %s\nDescription: a fake\n' "$2" "$3" >"$work/package/DEBIAN/control"
	for command in $4; do
		printf '#!/bin/sh\necho "%s $*"\n' "$command" >"$work/package/usr/bin/$command"
		chmod 755 "$work/package/usr/bin/$command"
	done
	dpkg-deb --build --root-owner-group "$work/package" "$1/$2.deb" >/dev/null
}

# sign FOLDER PACKAGES writes the index of a repository, whose list of packages is in PACKAGES.
sign() {
	(
		cd "$1"
		printf 'Date: %s\nSuite: stable\nCodename: bookworm\nComponents: stable\nArchitectures: amd64\nSHA256:\n %s %s %s\n' \
			"$(date -Ru)" "$(sha256sum <"$2" | cut -d' ' -f1)" "$(wc -c <"$2")" "$2" |
			gpg --batch --quiet --yes --clearsign -o InRelease
	)
}

gpg --batch --quiet --passphrase '' --quick-generate-key rehearsal@example default default never
www=$work/www
nvidia=$www/developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64
package "$nvidia" cuda-drivers "nvidia-installer-cleanup, glx-alternative-nvidia, update-glx, nvidia-support" nvidia-smi
toolkit=$www/nvidia.github.io/libnvidia-container/stable/deb/amd64
package "$toolkit" nvidia-container-toolkit "libc6" nvidia-ctk
docker=$www/download.docker.com/linux/debian
pool=$docker/dists/bookworm/pool
package "$pool" docker-ce "containerd.io, docker-ce-cli" dockerd
package "$pool" docker-ce-cli "libc6" docker
package "$pool" containerd.io "libc6" containerd
for folder in "$nvidia" "$toolkit"; do
	(cd "$folder" && dpkg-scanpackages . >Packages 2>/dev/null)
	sign "$folder" Packages
done
mkdir -p "$docker/dists/bookworm/stable/binary-amd64"
(cd "$docker" && dpkg-scanpackages dists/bookworm/pool >dists/bookworm/stable/binary-amd64/Packages 2>/dev/null)
sign "$docker/dists/bookworm" stable/binary-amd64/Packages
for key in "$nvidia/3bf863cc.pub" "$docker/gpg" "$www/nvidia.github.io/libnvidia-container/gpgkey"; do
	gpg --armor --export >"$key"
done
metadata=$www/metadata.google.internal/computeMetadata/v1/instance
mkdir -p "$metadata/attributes" "$metadata/service-accounts/default" "$www/models.example"
printf 'europe-docker.pkg.dev/p/r/gopherwarp' >"$metadata/attributes/gopherwarp-image"
printf 'https://models.example/m.gguf' >"$metadata/attributes/gopherwarp-model"
printf '{"access_token":"abc","expires_in":3599}' >"$metadata/service-accounts/default/token"
printf 'weights' >"$www/models.example/m.gguf"

python3 - "$www" "$work" <<'END' &
import functools, http.server, os, ssl, sys, threading
www, work = sys.argv[1:]

class Handler(http.server.SimpleHTTPRequestHandler):
    def translate_path(self, path):
        return os.path.join(www, self.headers["Host"], path.lstrip("/"))
    def log_message(self, *args):
        pass

web = http.server.ThreadingHTTPServer(("127.0.0.2", 443), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(work + "/cert.pem", work + "/key.pem")
web.socket = context.wrap_socket(web.socket, server_side=True)
threading.Thread(target=web.serve_forever, daemon=True).start()
http.server.ThreadingHTTPServer(("127.0.0.2", 80), Handler).serve_forever()
END
server=$!
trap 'kill "$server"' EXIT

mkdir -p "$root/fakes"
newest=$(chroot "$root" sh -c "apt-get -q update >/dev/null; apt-cache depends linux-image-cloud-amd64" | sed -n 's/.*Depends: linux-image-//p')
rm -rf "$root"/var/lib/apt/lists/* # so that the script begins without them
printf '#!/bin/sh\necho "%s"\n' "${KERNEL:-$newest}" >"$root/fakes/uname"
for command in modprobe systemctl reboot; do
	printf '#!/bin/sh\necho "%s $*"\n' "$command" >"$root/fakes/$command"
done
chmod 755 "$root"/fakes/*
cp "$here/startup.sh" "$root/startup.sh"
for start in first second; do
	echo "== the $start start"
	unshare --mount --pid --fork sh -c 'mount --bind /dev "$1/dev" && mount -t devpts devpts "$1/dev/pts" && mount -t proc proc "$1/proc" &&
		exec chroot "$1" env -i PATH=/fakes:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh /startup.sh' sh "$root"
done
