! SPDX-License-Identifier: MIT
! { dg-do run }
! A loop in parallel, and a region that stops the program.
program stops
  implicit none
  integer :: i, x(200)
  !$acc parallel loop copyout(x)
  do i = 1, 200
    x(i) = i * i
  end do
  if (sum(x) /= 2686700) stop 1
  print *, "so far"
  !$acc parallel
  error stop 7
  !$acc end parallel
end program
! { dg-output "so far.*ERROR STOP 7.*libgomp: cuStreamSynchronize error" }
! { dg-shouldfail "" }
