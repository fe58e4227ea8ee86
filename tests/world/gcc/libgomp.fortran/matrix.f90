! SPDX-License-Identifier: MIT
! { dg-do run { target offload_device } }
! A product of matrices by teams, and an array that is made on the device.
program matrix
  implicit none
  integer, parameter :: n = 40
  real :: a(n, n), b(n, n), c(n, n)
  integer :: i, j, k
  real, allocatable :: d(:)
  do j = 1, n
    do i = 1, n
      a(i, j) = i + j
      b(i, j) = merge(1., 0., i == j)
    end do
  end do
  !$omp target teams distribute parallel do collapse(2) map(to: a, b) map(from: c) private(k)
  do j = 1, n
    do i = 1, n
      c(i, j) = 0
      do k = 1, n
        c(i, j) = c(i, j) + a(i, k) * b(k, j)
      end do
    end do
  end do
  if (any(c /= a)) stop 1
  allocate (d(n))
  !$omp target data map(from: d)
  !$omp target
  d = [(real(i) ** 2, i = 1, n)]
  !$omp end target
  !$omp end target data
  if (sum(d) /= 22140.) stop 2
end program
